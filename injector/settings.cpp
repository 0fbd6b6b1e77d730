// What an experiment is recorded with, and where it goes. Any thread.
#include "injector/settings.h"

#include <unistd.h>

#include <filesystem>
#include <random>

#include "injector/collector_file.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kInterval = 10'007'000;  // ns; a prime number of microseconds

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

}  // namespace

Result<Settings> new_settings(std::span<const std::string> folders, const std::string& directory) {
  auto library = find_library(folders);
  if (!library) return tl::unexpected(library.error());
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error || access(real.c_str(), W_OK | X_OK) != 0)
    return fault("no experiment can be written to " + (error ? directory : real.string()),
                 "choose a directory that you may write to");
  return Settings{*library, (real / "test").string(), random_session(), kInterval};
}

}  // namespace gnomon::injector
