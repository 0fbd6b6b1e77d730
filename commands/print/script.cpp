// Commands from files. The program's only thread.
#include "commands/print/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "commands/base/command.h"
#include "reader/base/one_line.h"

namespace gnomon::commands {
namespace {

// Calls use(line number, line) for each until it returns false.
Result<void> each_line(const std::string& path,
                       const std::function<bool(std::size_t, const std::string&)>& use) {
  std::ifstream file(path);
  if (!file)
    return fault(fmt::format("cannot read {}: {}", path, std::strerror(errno)), "name a script");
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);)
    if (!use(++number, line)) break;
  return {};
}

Fault in_file(const std::string& path, std::size_t line, const Fault& fault) {
  return {fmt::format("{}:{}: {}", path, line, fault.what), fault.next};
}

// What such files say to a program with windows.
constexpr std::array<std::string_view, 10> kOfTheAnalyzer{"tabs",
                                                          "rtabs",
                                                          "tlmode",
                                                          "tldata",
                                                          "en_desc",
                                                          "scc",
                                                          "dcc",
                                                          "ignore_no_xhwcprof",
                                                          "ignore_fs_warn",
                                                          "preload_libdirs"};

// dmetrics and dsort are the names that these files have for `metrics` and `sort`.
Result<void> run_default(ShellHost& host, const std::string& line) {
  auto words = split_words(line);
  if (!words) return tl::unexpected(words.error());
  if (words->empty()) return {};
  std::string& name = words->front();
  if (name == "dmetrics" || name == "dsort") name.erase(0, 1);
  if (std::find(kOfTheAnalyzer.begin(), kOfTheAnalyzer.end(), name) != kOfTheAnalyzer.end())
    return {};
  const auto command = find_command(name, true);
  if (!command) return tl::unexpected(command.error());
  if ((*command)->role != Role::view && (*command)->role != Role::print_view)
    return fault(fmt::format("{} is no command for such a file", name),
                 "those that choose what reports show are");
  host.set_printing(false);
  const auto answer = execute(host, **command, std::span(*words).subspan(1));
  return answer ? Result<void>() : tl::unexpected(answer.error());
}

}  // namespace

Result<std::vector<std::string>> run_command(ShellHost& host, const Command& command,
                                             std::span<const std::string> words) {
  // A reader of JSON, CSV or HTML wants the reports alone.
  const bool is_choice = command.role == Role::view || command.role == Role::print_view;
  const bool is_shown = !is_choice || host.choice().format == Format::text;
  host.set_printing(is_shown);
  auto answer = execute(host, command, words);
  if (!answer) return tl::unexpected(answer.error());
  if (!is_shown) return std::vector<std::string>();
  if (auto done = host.put_answer(answer->text); !done) return tl::unexpected(done.error());
  return std::move(answer->warnings);
}

Result<void> run_line(ShellHost& host, std::string_view line) {
  const auto words = split_words(line);
  if (!words) return tl::unexpected(words.error());
  if (words->empty()) return {};
  const auto command = find_command(words->front(), true);
  if (!command) return tl::unexpected(command.error());
  const auto warnings = run_command(host, **command, std::span(*words).subspan(1));
  if (!warnings) return tl::unexpected(warnings.error());
  for (const std::string& warning : *warnings)
    fmt::print(stderr, "gnomon: note: {}\n", one_line(warning));
  return {};
}

Result<void> run_script(ShellHost& host, const std::string& path) {
  std::optional<Fault> failed;
  auto read = each_line(path, [&](std::size_t number, const std::string& line) {
    if (auto done = run_line(host, line); !done) failed = in_file(path, number, done.error());
    return !failed && !host.is_over();
  });
  if (!read) return read;
  return failed ? tl::unexpected(*failed) : Result<void>();
}

void run_defaults(ShellHost& host) {
  const char* home = std::getenv("HOME");
  std::vector<std::filesystem::path> paths{"/etc/er.rc"};
  if (home && *home) paths.push_back(std::filesystem::path(home) / ".er.rc");
  std::error_code failed;
  // A program that is run at home reads that file once.
  if (paths.size() == 1 || !std::filesystem::equivalent(".er.rc", paths.back(), failed))
    paths.emplace_back(".er.rc");
  for (const auto& path : paths) {
    if (!std::filesystem::is_regular_file(path, failed)) continue;
    (void)each_line(path, [&](std::size_t number, const std::string& line) {
      if (auto done = run_default(host, line); !done)
        fmt::print(stderr, "gnomon: note: {}\n",
                   one_line(sentence(in_file(path, number, done.error()))));
      return true;
    });
  }
}

}  // namespace gnomon::commands
