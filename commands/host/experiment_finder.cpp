// Finds the experiment that a run of this session wrote. Any thread.
#include "commands/host/experiment_finder.h"

#include <filesystem>

#include "reader/experiment/header.h"

namespace gnomon::commands {

std::string find_experiment(std::span<const std::string> stems, const WantedExperiment& wanted) {
  namespace fs = std::filesystem;
  std::string best;
  std::uint64_t best_start = 0;
  for (const std::string& stem : stems) {
    const fs::path path(stem);
    const std::string prefix = path.filename().string() + ".";
    std::error_code error;
    for (fs::directory_iterator entry(path.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with(prefix) || entry->path().extension() != ".er") continue;
      const auto header = reader::read_header(entry->path().string());
      if (!header || header->session != wanted.session ||
          (wanted.pid != 0 && header->pid != wanted.pid) ||
          (!wanted.executable.empty() && header->executable != wanted.executable) ||
          header->start_realtime < best_start)
        continue;
      best = entry->path().string();
      best_start = header->start_realtime;
    }
  }
  return best;
}

Result<bool> records_allocations(const std::string& experiment) {
  const auto header = reader::read_header(experiment);
  if (!header) return tl::unexpected(header.error());
  return header->settings[format::Setting::heaptrace] != 0;
}

}  // namespace gnomon::commands
