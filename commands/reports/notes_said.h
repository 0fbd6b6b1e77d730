// Remembers the notes that a debugger's session has shown above its reports. LLDB's command thread.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gnomon::commands {

class NotesSaid {
 public:
  // Removes the notes that need not be said again. These are notes that were said of that
  // experiment and whose figure has not grown by half since. Notes on less than 1 % of the time go,
  // too. Notes on which events the report is about stay. Returns how many notes were removed.
  std::size_t take_known(std::vector<std::string>& notes, const std::string& experiment);

 private:
  bool is_news(const std::string& note, const std::string& experiment);

  // The figures of notes by experiment and by the note's words without figures.
  std::map<std::pair<std::string, std::string>, double> said_;
};

}  // namespace gnomon::commands
