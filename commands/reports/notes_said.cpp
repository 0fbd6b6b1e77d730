// Remembers the notes that a debugger's session has shown above its reports. LLDB's command thread.
#include "commands/reports/notes_said.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace gnomon::commands {
namespace {

struct Figures {
  std::string words;            // of the note, with a # for each number
  std::optional<double> first;  // number
  std::optional<double> share;  // the first percentage
};

Figures figures_of(const std::string& note) {
  Figures figures;
  for (std::size_t at = 0; at < note.size();) {
    if (note[at] < '0' || note[at] > '9') {
      figures.words += note[at++];
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(note.data() + at, note.data() + note.size(), value,
                                              std::chars_format::fixed);
    at = static_cast<std::size_t>(end - note.data());
    figures.words += '#';
    if (!figures.first) figures.first = value;
    if (!figures.share && std::string_view(note).substr(at).starts_with(" %"))
      figures.share = value;
  }
  return figures;
}

// Which part of the recording is shown, or which events.
bool is_of_choice(const std::string& note) { return note.starts_with("only "); }

}  // namespace

bool NotesSaid::is_news(const std::string& note, const std::string& experiment) {
  constexpr double kGrown = 1.5;
  if (is_of_choice(note)) return true;
  const Figures figures = figures_of(note);
  if (figures.share && *figures.share < 1) return false;
  const double figure = figures.share.value_or(figures.first.value_or(0));
  const auto [at, is_new] = said_.try_emplace({experiment, figures.words}, figure);
  if (!is_new && figure <= kGrown * at->second) return false;
  at->second = figure;
  return true;
}

std::size_t NotesSaid::take_known(std::vector<std::string>& notes, const std::string& experiment) {
  return std::erase_if(notes, [&](const std::string& note) { return !is_news(note, experiment); });
}

}  // namespace gnomon::commands
