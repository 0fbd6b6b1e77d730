// Commands from the keyboard. The program's only thread.
#include <fmt/format.h>
#include <histedit.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "commands/base/complete.h"
#include "commands/print/script.h"
#include "reader/base/one_line.h"

namespace gnomon::commands {
namespace {

constexpr const char* kPrompt = "(gnomon) ";

// A line edited on the terminal, with a history that lasts. (libedit.)
class Editor {
 public:
  explicit Editor(ShellHost& host)
      : host_(host), line_(el_init("gnomon", stdin, stdout, stderr)), history_(history_init()) {
    if (!line_ || !history_) return;
    const char* home = std::getenv("HOME");
    if (home && *home) file_ = std::string(home) + "/.gnomon_history";
    constexpr int kLines = 1000;
    HistEvent event;
    history(history_.get(), &event, H_SETSIZE, kLines);
    history(history_.get(), &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_.get(), &event, H_LOAD, file_.c_str());
    el_set(line_.get(), EL_PROMPT, prompt);
    el_set(line_.get(), EL_EDITOR, "emacs");
    el_set(line_.get(), EL_SIGNAL, 1);
    el_set(line_.get(), EL_HIST, history, history_.get());
    el_set(line_.get(), EL_CLIENTDATA, this);
    el_set(line_.get(), EL_ADDFN, "gnomon-complete", "Complete a word", complete);
    el_set(line_.get(), EL_BIND, "^I", "gnomon-complete", nullptr);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;
  ~Editor() {
    if (!history_ || file_.empty()) return;
    HistEvent event;
    history(history_.get(), &event, H_SAVE, file_.c_str());
  }

  // Returns false at the end of the input.
  bool read(std::string& text) {
    // libedit would print its prompt first: an end of input typed between the two would be lost.
    el_set(line_.get(), EL_PREP_TERM, 1);
    int length = 0;
    const char* const read = el_gets(line_.get(), &length);
    if (!read || length <= 0) return false;
    text.assign(read, static_cast<std::size_t>(length));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    HistEvent event;
    if (text.find_first_not_of(" \t") != std::string::npos)
      history(history_.get(), &event, H_ENTER, text.c_str());
    return true;
  }
  bool is_ready() const { return line_ && history_; }

 private:
  static char* prompt(EditLine*) {
    static std::string text = kPrompt;
    return text.data();
  }

  // Inserts what all that is possible has in common; without anything to insert, lists them.
  static unsigned char complete(EditLine* line, int) {
    Editor* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    const LineInfo* info = el_line(line);
    const std::string before(info->buffer, info->cursor);
    const Completion found = completion_of(self->host_, before, true);
    if (found.insert.empty() && found.candidates.size() < 2) return CC_ERROR;
    if (!found.insert.empty()) {
      el_insertstr(line, found.insert.c_str());
      return CC_REFRESH;
    }
    std::fputc('\n', stdout);
    for (const std::string& each : found.candidates) fmt::print("{}\n", one_line(each));
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  struct EndLine {
    void operator()(EditLine* line) const { el_end(line); }
  };
  struct EndHistory {
    void operator()(History* all) const { history_end(all); }
  };
  ShellHost& host_;
  std::unique_ptr<EditLine, EndLine> line_;
  std::unique_ptr<History, EndHistory> history_;
  std::string file_;
};

// Returns false if the command failed.
bool run_and_say(ShellHost& host, const std::string& line) {
  host.take_interrupts();
  const auto done = run_line(host, line);
  (void)host.flush();
  if (!done) fmt::print(stderr, "gnomon: {}\n", sentence(done.error()));
  return done.has_value();
}

}  // namespace

Result<Answer> run_interactively(ShellHost& host) {
  std::string line;
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    Editor editor(host);
    if (editor.is_ready()) {
      host.take_interrupts();
      while (!host.is_over() && editor.read(line)) run_and_say(host, line);
      return Answer{};
    }
  }
  std::size_t failed = 0, lines = 0;
  for (; !host.is_over() && std::getline(std::cin, line); ++lines)
    failed += run_and_say(host, line) ? 0 : 1;
  if (failed == 0) return Answer{};
  return fault(fmt::format("{} of {} lines could not be run", failed, lines));
}

}  // namespace gnomon::commands
