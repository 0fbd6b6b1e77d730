// What a debugger's session has said above its reports. LLDB's command thread.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gnomon::commands {

class NotesSaid {
 public:
  // Takes out of the notes above a report what need not be said again: a note that was said of that
  // experiment and whose figure has not grown by half since, and what concerns less than 1 % of the
  // time. Notes on which events the report is about stay. Returns how many notes it took.
  std::size_t take_known(std::vector<std::string>& notes, const std::string& experiment);

 private:
  bool is_news(const std::string& note, const std::string& experiment);

  // The figures of notes by experiment and by the note's words without figures.
  std::map<std::pair<std::string, std::string>, double> said_;
};

}  // namespace gnomon::commands
