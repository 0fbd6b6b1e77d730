// The files that a process has mapped, where another process finds them. Any thread.
#include "reader/symbols/live_files.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace gnomon::reader {
namespace {

constexpr std::string_view kRemoved = " (deleted)";  // proc_pid_exe(5), proc_pid_maps(5)

bool was_removed(const std::string& path) { return path.ends_with(kRemoved); }
std::string path_of(const std::string& removed) {
  return removed.substr(0, removed.size() - kRemoved.size());
}

// map_files has no leading zeros, which maps has.
std::string file_of(const std::string& range) {
  std::string plain;
  for (const char c : range)
    if (c != '0' || (!plain.empty() && plain.back() != '-')) plain += c;
  return plain;
}

}  // namespace

LiveFiles::LiveFiles(const std::string& process) : process_(process) {
  // Everyone who may see the process may read its program; the others want CAP_SYS_ADMIN.
  std::error_code error;
  if (const auto program = std::filesystem::read_symlink(process + "/exe", error).string();
      was_removed(program))
    removed_[path_of(program)].push_back(process + "/exe");
  std::ifstream maps(process + "/maps");
  // A file that was replaced twice may be mapped as it was both times.
  std::set<std::pair<std::string, std::string>> seen;
  for (std::string line; std::getline(maps, line);) {
    if (!was_removed(line)) continue;
    std::istringstream fields(line);
    std::string range, other, device, inode, path;
    fields >> range >> other >> other >> device >> inode >> std::ws;
    std::getline(fields, path);
    if (seen.emplace(device, inode).second)
      removed_[path_of(path)].push_back(process + "/map_files/" + file_of(range));
  }
}

std::vector<std::string> LiveFiles::candidate_paths(const std::string& path) const {
  std::vector<std::string> places;
  if (const auto at = removed_.find(path); at != removed_.end()) places = at->second;
  places.push_back(path);
  if (!process_.empty()) places.push_back(process_ + "/root" + path);
  return places;
}

}  // namespace gnomon::reader
