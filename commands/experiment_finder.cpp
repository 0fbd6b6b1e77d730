// Finds the experiment that a run of this session wrote. Any thread.
#include "commands/experiment_finder.h"

#include <cstdlib>
#include <filesystem>

#include "reader/experiment/header.h"

namespace gnomon::commands {

std::string find_experiment(const std::string& stem, std::uint64_t session, std::uint64_t pid) {
  namespace fs = std::filesystem;
  const fs::path path(stem);
  const std::string prefix = path.filename().string() + ".";
  std::string best;
  long best_number = 0;
  std::error_code error;
  for (fs::directory_iterator entry(path.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind(prefix, 0) != 0 || entry->path().extension() != ".er") continue;
    const long number = std::atol(name.c_str() + prefix.size());
    if (number <= best_number) continue;
    const auto header = reader::read_header(entry->path().string());
    if (!header || header->session != session || (pid != 0 && header->pid != pid)) continue;
    best = entry->path().string();
    best_number = number;
  }
  return best;
}

}  // namespace gnomon::commands
