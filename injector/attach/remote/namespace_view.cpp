// How another process sees the machine: thread ids, files and rights. Any thread; stops nothing.
#include "injector/attach/remote/namespace_view.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <thread>
#include <vector>

#include "injector/attach/remote/descriptor.h"
#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// Returns the numbers of a line such as "NSpid:\t12\t1".
std::vector<std::uint64_t> numbers_in(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  std::vector<std::uint64_t> numbers;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
    break;
  }
  return numbers;
}

constexpr std::size_t kFileSystemId = 3;  // of real, effective, saved, file system

struct Credentials {
  Owner owner{};
  std::vector<gid_t> groups;
};

Credentials credentials_of(pid_t pid) {
  const std::string status = proc_text(pid, "status");
  Credentials found{file_owner(pid), {}};
  for (const std::uint64_t group : numbers_in(status, "Groups"))
    found.groups.push_back(static_cast<gid_t>(group));
  return found;
}

// Changes the calling thread only, unlike libc's functions. The capabilities that override
// permissions go with the user.
bool become(const Credentials& whom) {
  syscall(SYS_setgroups, whom.groups.size(), whom.groups.data());
  syscall(SYS_setfsgid, whom.owner.group);
  syscall(SYS_setfsuid, whom.owner.user);
  return syscall(SYS_setfsuid, -1) == static_cast<long>(whom.owner.user);
}

bool may_use(int file, bool is_directory) {
  if (is_directory)
    return syscall(SYS_faccessat2, file, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
  struct statvfs system {};
  return fstatvfs(file, &system) == 0 && !(system.f_flag & ST_NOEXEC);
}

bool can_use_below(int root, const struct stat& ours, const std::string& path) {
  const bool is_directory = S_ISDIR(ours.st_mode);
  open_how how{};
  how.flags = static_cast<std::uint64_t>((is_directory ? O_PATH : O_RDONLY) | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  const Descriptor file(
      static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  struct stat theirs {};
  return file && fstat(file.get(), &theirs) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino && may_use(file.get(), is_directory);
}

}  // namespace

pid_t own_number(pid_t pid, pid_t tid) {
  const auto numbers =
      numbers_in(proc_text(pid, "task/" + std::to_string(tid) + "/status"), "NSpid");
  return numbers.empty() ? tid : static_cast<pid_t>(numbers.back());
}

pid_t thread_by_own_number(pid_t pid, pid_t own) {
  if (own_number(pid) == pid) return state_of(pid, own) != '\0' ? own : 0;
  for (const pid_t tid : threads_of(pid))
    if (own_number(pid, tid) == own) return tid;
  return 0;
}

// Without /proc the collector could not list threads; with that of another pid namespace it would
// see foreign ids.
Result<void> check_own_proc(pid_t pid) {
  const pid_t own = own_number(pid);
  const std::string there = proc_text(pid, "root/proc/" + std::to_string(own) + "/stat");
  if (there.empty())
    return fault("it sees no /proc of its own process namespace",
                 "mount one at /proc/" + std::to_string(pid) + "/root/proc");
  constexpr int kStart = 22;
  if (stat_number(there, kStart) != stat_number(proc_text(pid, "stat"), kStart))
    return fault("the /proc that it sees is of another process namespace",
                 "mount its own there (unshare --mount-proc)");
  return {};
}

bool can_use(pid_t pid, const std::string& path) {
  struct stat ours {};
  if (stat(path.c_str(), &ours) != 0) return false;
  const Descriptor root(
      open(("/proc/" + std::to_string(pid) + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return false;
  const Credentials whom = credentials_of(pid);
  if (whom.owner.user == geteuid()) return can_use_below(root.get(), ours, path);
  bool can = false;
  std::thread([&] { can = become(whom) && can_use_below(root.get(), ours, path); }).join();
  return can;
}

Owner file_owner(pid_t pid) {
  const std::string status = proc_text(pid, "status");
  const auto users = numbers_in(status, "Uid"), groups = numbers_in(status, "Gid");
  if (users.size() <= kFileSystemId || groups.size() <= kFileSystemId)
    return {geteuid(), getegid()};
  return {static_cast<uid_t>(users[kFileSystemId]), static_cast<gid_t>(groups[kFileSystemId])};
}

}  // namespace gnomon::injector
