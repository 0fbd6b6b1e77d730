// Damages copies of experiments and asks for every report on them: none may crash, hang, fill the
// memory, or show other numbers without a note.
//   mutate_experiments SCRATCH COUNT RANDOM EXPERIMENT...
#include <fmt/format.h>

#include <sstream>

#include "tests/fuzz/all_reports.h"
#include "tests/fuzz/experiment_files.h"
#include "tests/fuzz/trials.h"
#include "tests/fuzz/tried.h"

namespace {

using namespace gnomon::fuzz;

struct Original {
  std::string name;
  Files files;
  std::vector<Report> reports;
};

// Lines of a report that are notes, and those that are not.
std::pair<std::string, std::string> notes_and_rest(const std::string& text) {
  std::istringstream lines(text);
  std::pair<std::string, std::string> parts;
  for (std::string line; std::getline(lines, line);)
    (line.find("Note:") != std::string::npos ? parts.first : parts.second) += line + "\n";
  return parts;
}

// What differs from the original and is said by no note; empty: nothing.
std::string silent_difference(const std::vector<Report>& is, const std::vector<Report>& was) {
  for (std::size_t i = 0; i < is.size(); ++i) {
    const bool has_notes = is[i].command.find("--format") == std::string::npos &&
                           is[i].command.find("--to") == std::string::npos;
    if (!is[i].is_given || !was[i].is_given || !has_notes) continue;
    const auto now = notes_and_rest(is[i].text), then = notes_and_rest(was[i].text);
    if (now.second != then.second && now.first == then.first)
      return fmt::format("differs silently: {}\n{}\n-- was --\n{}", is[i].command,
                         is[i].text.substr(0, 1500), was[i].text.substr(0, 1500));
  }
  return "";
}

std::string damaged_files(const Files& is, const Files& was) {
  std::string names;
  for (const auto& [name, bytes] : was)
    if (const auto found = is.find(name); found == is.end())
      names += " " + name + " (gone)";
    else if (found->second != bytes)
      names += " " + name;
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  const auto trials = Trials::parse(argc, argv);
  if (!trials) return 2;
  const std::string& scratch = trials->scratch;
  std::vector<Original> originals;
  for (const std::string& name : trials->files) {
    Files files = read_files(name);
    if (!write_files(files, scratch)) return std::fputs("cannot write\n", stderr), 2;
    originals.push_back({name, files, all_reports(scratch)});
  }
  return trials->run("experiments", [&](std::mt19937_64& random) {
    const Original& original = originals[random() % originals.size()];
    const Original& other = originals[random() % originals.size()];
    Files files = original.files;
    const bool is_mended = random() % 2 == 0;
    for (std::uint64_t left = 1 + (random() % 4 == 0 ? random() % 4 : 0); left > 0; --left)
      damage(files, other.files, random);
    if (is_mended) mend_checks(files);
    const std::string tried_on = original.name + damaged_files(files, original.files) +
                                 (is_mended ? " mended" : " as damaged");
    if (files == original.files) return std::pair(tried_on, std::string());
    if (!write_files(files, scratch)) return std::pair(tried_on, std::string("cannot write"));
    return std::pair(tried_on, tried({}, [&] {
                       const auto reports = all_reports(scratch);
                       return is_mended ? std::string()
                                        : silent_difference(reports, original.reports);
                     }));
  });
}
