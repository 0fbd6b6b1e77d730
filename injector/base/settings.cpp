// What an experiment is recorded with, and where it goes. Any thread.
#include "injector/base/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <tuple>
#include <utility>

#include "injector/files/collector_file.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

Result<std::string> find_library(std::span<const std::string> folders) {
  std::error_code error;
  for (const std::string& folder : folders) {
    const fs::path library = fs::canonical(fs::path(folder) / "libcollector.so", error);
    if (error || access(library.c_str(), R_OK) != 0) continue;
    if (is_collector(library)) return library.string();
    return fault(library.string() + " is damaged, or another library", "reinstall Gnomon");
  }
  return fault("cannot read " + (folders.empty() ? "" : folders.front() + "/") + "libcollector.so",
               "reinstall Gnomon");
}

std::uint64_t random_session() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

// A path below `directory`, unless it is absolute.
Result<fs::path> path_in(const std::string& directory, const std::string& name,
                         const char* ending) {
  const fs::path path = fs::path(directory) / name;
  const std::string file = path.filename().string();
  if (!file.ends_with(ending) || file == ending)
    return fault(fmt::format("{} does not end in {}", name, ending),
                 fmt::format("a name such as test{} does", ending));
  return path;
}

// NAME of NAME.7.er, and 7; of NAME.er, NAME and 0.
std::pair<std::string, std::uint64_t> split(const std::string& file) {
  const std::string name = fs::path(file).stem().string();
  const auto dot = name.rfind('.');
  const std::string digits = dot == std::string::npos ? "" : name.substr(dot + 1);
  const bool is_number = !digits.empty() && digits.size() <= 6 &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || dot == 0 || std::stoul(digits) == 0) return {name, 0};
  return {name.substr(0, dot), std::stoul(digits)};
}

// Sets stem, number and group.
Result<void> go_to(const Destination& place, Settings& settings) {
  fs::path folder = place.directory;
  std::string name = "test";
  std::uint64_t number = 1;
  if (!place.group.empty()) {
    const auto group = path_in(place.directory, place.group, ".erg");
    if (!group) return tl::unexpected(group.error());
    settings.group = fs::absolute(*group).lexically_normal().string();
    folder = group->parent_path();
    name = group->stem().string();
  }
  if (!place.experiment.empty()) {
    const auto experiment = path_in(place.directory, place.experiment, ".er");
    if (!experiment) return tl::unexpected(experiment.error());
    folder = experiment->parent_path();
    std::tie(name, number) = split(experiment->filename().string());
  }
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !fs::is_directory(real, error) || access(real.c_str(), W_OK | X_OK) != 0)
    return fault("no experiment can be written to " + (real.empty() ? folder : real).string(),
                 "choose a directory that you may write to");
  settings.stem = (real / name).string();
  settings.values[format::Setting::number] = number;
  return {};
}

}  // namespace

Result<Settings> new_settings(std::span<const std::string> folders, const Destination& place,
                              const format::SettingValues& values) {
  auto library = find_library(folders);
  if (!library) return tl::unexpected(library.error());
  Settings settings{*library, "", random_session(), values, "", "", {}};
  if (auto gone = go_to(place, settings); !gone) return tl::unexpected(gone.error());
  return settings;
}

std::string exact_name(const Settings& settings) {
  return settings.values[format::Setting::number] == 0 ? settings.stem + ".er" : "";
}

}  // namespace gnomon::injector
