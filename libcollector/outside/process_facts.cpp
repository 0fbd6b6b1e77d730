// What /proc says of another process and of this one's rights to sample it. In gnomon-sampler.
#include "libcollector/outside/process_facts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace gnomon::outside {
namespace {

std::uint64_t capabilities_of(std::string_view pid, std::string_view which) {
  return std::strtoull(status_of(pid, which).c_str(), nullptr, 16);
}

std::string user_namespace_of(const std::string& pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + pid + "/ns/user", error).string();
}

// The files of a process that does not let its user look into it are root's (proc(5)).
bool is_open_to_its_user(const std::string& pid, const std::string& user) {
  struct stat info {};
  if (stat(("/proc/" + pid).c_str(), &info) != 0) return true;
  return info.st_uid == std::strtoul(user.c_str(), nullptr, 10);
}

std::string clause(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

std::string refusal_to_this_user(const Rights& rights) {
  constexpr int kMostOpen = 2;
  if (rights.paranoid > kMostOpen && !rights.is_privileged)
    return clause({"kernel.perf_event_paranoid is ", std::to_string(rights.paranoid),
                   ", which keeps perf events from all users: `sysctl kernel.perf_event_paranoid=2`"
                   " allows them"});
  if (rights.is_in_namespace)
    return "the process is in another user namespace, whose processes this user may not sample: "
           "run Gnomon in that namespace, or as root outside";
  if (rights.user != rights.own_user)
    return "the process is another user's: run Gnomon as that user, or as root";
  if (!rights.is_open)
    return "the process does not let its user look into it (see PR_SET_DUMPABLE in prctl(2)): run "
           "Gnomon as root";
  if (rights.has_more)
    return "the process has capabilities that this user has not: run Gnomon as root";
  return "";
}

}  // namespace

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/task", error), end;
       !error && at != end; at.increment(error))
    threads.push_back(static_cast<pid_t>(std::atoi(at->path().filename().c_str())));
  return threads;
}

std::string status_of(std::string_view pid, std::string_view key) {
  std::ifstream file(clause({"/proc/", pid, "/status"}));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      const auto begin = line.find_first_not_of(" \t", key.size() + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  return "";
}

std::uint64_t cpu_time_of(pid_t pid) {
  timespec time{};
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Rights rights_to(pid_t pid) {
  constexpr std::uint64_t kPerfmon = 1ull << 38, kSystemAdmin = 1ull << 21;
  constexpr std::string_view kOwn = "self";
  Rights rights;
  const std::string process = std::to_string(pid);
  rights.user = status_of(process, "Uid");
  rights.own_user = status_of(kOwn, "Uid");
  rights.is_there = !rights.user.empty();
  std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> rights.paranoid;
  const std::uint64_t own = capabilities_of(kOwn, "CapEff");
  rights.is_privileged = (own & (kPerfmon | kSystemAdmin)) != 0;
  rights.is_filtered = status_of(kOwn, "Seccomp") == "2";
  rights.is_open = is_open_to_its_user(process, rights.user);
  rights.has_more = (capabilities_of(process, "CapPrm") & ~own) != 0;
  const std::string space = user_namespace_of(process), own_space = user_namespace_of("self");
  rights.is_in_namespace = !space.empty() && !own_space.empty() && space != own_space;
  rights.threads = threads_of(pid).size();
  rights.cpus = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) rights.descriptors = limit.rlim_cur;
  return rights;
}

std::string refusal_of_events(int error, const Rights& rights) {
  if (error == ESRCH || !rights.is_there) return "the process has ended";
  if (error == EMFILE)
    return clause({"the process's ", std::to_string(rights.threads), " threads on ",
                   std::to_string(rights.cpus), " CPUs need ",
                   std::to_string(rights.threads * rights.cpus),
                   " descriptors, and this user's programs may have ",
                   std::to_string(rights.descriptors), ": raise `ulimit -Hn`"});
  if (error == ENOSYS || error == ENOENT)
    return "the kernel has no perf events (CONFIG_PERF_EVENTS)";
  if (error == EPERM && rights.is_filtered)
    return "a filter of system calls keeps perf_event_open from this program, as those of "
           "containers do: give the container CAP_PERFMON, or run Gnomon outside";
  if (error == EACCES || error == EPERM)
    if (std::string known = refusal_to_this_user(rights); !known.empty()) return known;
  return clause({"the kernel refuses its events: ", std::strerror(error)});
}

std::string refusal_of_rings(int error) {
  if (error == EPERM)
    return "other recordings, or perf, have taken all the memory that this user may lock for the "
           "kernel's rings: end one, or raise `ulimit -l` or kernel.perf_event_mlock_kb";
  if (error == EACCES || error == ENOSYS || error == ENOENT)
    return refusal_of_events(error, rights_to(getpid()));
  return clause({"the kernel gives no ring buffer: ", std::strerror(error)});
}

}  // namespace gnomon::outside
