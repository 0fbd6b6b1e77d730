// Experiments that are in the way of a new one. Any thread.
#include "injector/base/overwriting.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "injector/base/recording.h"
#include "libcollector/format/control.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

// Returns true if a process in this pid namespace records to `experiment`. Of one in another
// namespace nothing is known; removing the files does not harm it, since it has them open.
bool is_being_written(const fs::path& experiment) {
  format::ControlPage page{};
  std::ifstream file(experiment / format::kControlFile, std::ios::binary);
  file.read(reinterpret_cast<char*>(&page), sizeof page);
  if (!file || page.magic != format::kControlMagic || page.pid == 0) return false;
  const auto recording = open_recording_in(static_cast<pid_t>(page.pid));
  std::error_code error;
  return recording && fs::equivalent(recording->experiment, experiment, error);
}

}  // namespace

Result<std::string> existing_experiment(const Settings& settings, bool may_replace) {
  const std::uint64_t number = settings.values[format::Setting::number];
  std::string path = exact_name(settings);
  if (path.empty() && may_replace) path = fmt::format("{}.{}.er", settings.stem, number);
  std::error_code error;
  if (path.empty() || !fs::exists(fs::symlink_status(path, error))) return std::string();
  if (!may_replace)
    return fault(path + " exists already", "choose another name; -O writes over an experiment");
  const fs::path control = fs::path(path) / format::kControlFile;
  if (!fs::is_directory(fs::symlink_status(path, error)) || !fs::exists(control, error))
    return fault(path + " is not an experiment, so it is not written over", "choose another name");
  if (is_being_written(path))
    return fault(path + " is being recorded", "end that first, or choose another name");
  return path;
}

Result<void> remove_experiment(const std::string& experiment) {
  std::error_code error;
  if (!experiment.empty()) fs::remove_all(experiment, error);
  if (!error) return {};
  return fault(fmt::format("cannot remove {}: {}", experiment, error.message()),
               "see whether you may write there");
}

}  // namespace gnomon::injector
