// Groups of experiments. Any thread.
#include "reader/experiment/group.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace gnomon::reader {

Result<std::vector<std::string>> experiments_of(const std::string& path) {
  constexpr std::string_view kHead = "#analyzer experiment group";
  constexpr std::size_t kMost = 1000;
  if (!path.ends_with(".erg")) return std::vector{path};
  std::ifstream file(path);
  if (!file)
    return fault(fmt::format("cannot read {}: {}", path, std::strerror(errno)),
                 "name a group of experiments");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<std::string> experiments;
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(kHead))
    return fault(path + " is no group of experiments",
                 fmt::format("such a file begins with {}", kHead));
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    if (experiments.size() == kMost)
      return fault(fmt::format("{} names more than {} experiments", path, kMost), "divide it");
    experiments.push_back((folder / line).string());
  }
  if (experiments.empty()) return fault(path + " names no experiment", "add a line for each");
  return experiments;
}

}  // namespace gnomon::reader
