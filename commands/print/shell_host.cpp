// The host of `gnomon print`. The program's only thread; the handler of SIGINT sets a flag.
#include "commands/print/shell_host.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "commands/print/disassembler.h"
#include "commands/print/script.h"
#include "commands/print/terminal.h"
#include "reader/experiment/group.h"

namespace gnomon::commands {
namespace {

std::atomic<bool> was_interrupted = false;

tl::unexpected<Fault> cannot_write() {
  return fault(fmt::format("cannot write: {}", std::strerror(errno)));
}

}  // namespace

ShellHost::ShellHost(std::vector<std::string> experiments) : experiments_(std::move(experiments)) {}

Result<std::string> ShellHost::experiment() {
  if (!experiments_.empty()) return experiments_.front();
  return fault("no experiment is named", "end the line with one, such as test.1.er");
}

Result<std::vector<std::string>> ShellHost::experiments() {
  if (auto first = experiment(); !first) return tl::unexpected(first.error());
  return experiments_;
}

Result<std::string> ShellHost::function() {
  return fault("no function is named", "name one, as `gnomon print -functions` shows it");
}

reader::TextStyle ShellHost::style() const {
  return file_ ? reader::TextStyle{} : terminal_style(STDOUT_FILENO);
}

Interrupt ShellHost::interrupt() const {
  if (!takes_interrupts_) return {};
  return Interrupt([] { return was_interrupted.load(); });
}

void ShellHost::take_interrupts() {
  was_interrupted = false;
  if (takes_interrupts_) return;
  takes_interrupts_ = true;
  struct sigaction action {};
  action.sa_handler = [](int) { was_interrupted = true; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

Result<reader::Disassembler*> ShellHost::disassembler() { return load_disassembler(); }

reader::Put ShellHost::printer() {
  if (!is_printing_) return {};
  is_blank_due_ = has_printed_;
  return [this](std::string_view piece) { return put(piece); };
}

Result<void> ShellHost::put_answer(const std::string& text) {
  is_blank_due_ = has_printed_;
  return text.empty() ? Result<void>() : put(text);
}

Result<void> ShellHost::put(std::string_view piece) {
  std::FILE* const to = file_ ? file_.get() : stdout;
  if (is_blank_due_) std::fputc('\n', to);
  is_blank_due_ = false;
  has_printed_ = true;
  if (std::fwrite(piece.data(), 1, piece.size(), to) == piece.size()) return {};
  return cannot_write();
}

Result<void> ShellHost::flush() {
  if (std::fflush(file_ ? file_.get() : stdout) == 0) return {};
  return cannot_write();
}

Result<void> ShellHost::redirect(const std::string& path, bool appends) {
  if (auto flushed = flush(); !flushed) return flushed;
  std::unique_ptr<std::FILE, Close> opened;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), appends ? "ae" : "we"));
    if (!opened)
      return fault(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                   "name a file that you may write");
  }
  if (!file_) stdout_has_printed_ = has_printed_;
  file_ = std::move(opened);
  // A blank line stands between what the file has and the next report.
  has_printed_ = file_ ? std::fseek(file_.get(), 0, SEEK_END) == 0 && std::ftell(file_.get()) > 0
                       : stdout_has_printed_;
  return {};
}

Result<void> ShellHost::open_experiment(const std::string& name) {
  std::vector<std::string> before = std::exchange(experiments_, {});
  auto added = add_experiment(name);
  if (!added) experiments_ = std::move(before);
  return added;
}

Result<void> ShellHost::add_experiment(const std::string& name) {
  const auto group = reader::experiments_of(name);
  if (!group) return tl::unexpected(group.error());
  for (const std::string& directory : *group)
    if (const auto opened = reader::open_experiment(directory); !opened)
      return tl::unexpected(opened.error());
  if (std::find(experiments_.begin(), experiments_.end(), name) == experiments_.end())
    experiments_.push_back(name);
  return {};
}

Result<void> ShellHost::drop_experiment(const std::string& name) {
  const auto at = std::find(experiments_.begin(), experiments_.end(), name);
  if (at == experiments_.end())
    return fault(name + " is not open", "`experiment_list` shows what is");
  experiments_.erase(at);
  return {};
}

Result<void> ShellHost::run_script(const std::string& path) {
  constexpr int kDeepest = 20;
  if (scripts_ == kDeepest)
    return fault(path + " is run by a script that it runs itself", "take the line away");
  ++scripts_;
  auto done = commands::run_script(*this, path);
  --scripts_;
  return done;
}

Result<void> ShellHost::quit() {
  is_over_ = true;
  return {};
}

}  // namespace gnomon::commands
