// Which processes run a program. Any thread of a debugger or of the shell's command.
#include "injector/attach/by_name.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gnomon::injector {
namespace {

// 0: the folder is none of a process.
pid_t number_of(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

bool is_called(const std::filesystem::path& process, const std::string& name) {
  std::error_code error;
  const auto file = std::filesystem::read_symlink(process / "exe", error);
  if (error) return false;  // a thread of the kernel's, another user's, or gone
  if (file.filename() == name) return true;
  std::ifstream comm(process / "comm");
  std::string called;
  return std::getline(comm, called) && called == name;
}

}  // namespace

std::vector<pid_t> processes_named(const std::string& name) {
  std::vector<pid_t> found;
  std::error_code error;
  for (auto each = std::filesystem::directory_iterator("/proc", error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const pid_t pid = number_of(each->path().filename());
    if (pid > 0 && pid != getpid() && is_called(each->path(), name)) found.push_back(pid);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace gnomon::injector
