// What /proc says of another process and of this one's rights to sample it. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::outside {

// By the numbers that this program knows them by; empty: the process has ended.
std::vector<pid_t> threads_of(pid_t pid);
// The text behind "KEY:" in /proc/PID/status, without the blanks before it; empty: there is none.
std::string status_of(std::string_view pid, std::string_view key);

// Of all its threads, those that have ended included, ns; 0: the process is not there
// (linux/posix-timers.h).
std::uint64_t cpu_time_of(pid_t pid);

// What decides whether the kernel lets this program sample a process.
struct Rights {
  bool is_there = true;          // the process
  int paranoid = 2;              // kernel.perf_event_paranoid
  bool is_privileged = false;    // this program has CAP_PERFMON or CAP_SYS_ADMIN
  bool is_filtered = false;      // this program's system calls, by seccomp
  std::string user, own_user;    // real, effective, saved and file system's user ids
  bool is_open = true;           // the process lets its user look into it
  bool has_more = false;         // capabilities than this program
  bool is_in_namespace = false;  // of users, another one than this program
  std::uint64_t threads = 0, cpus = 0, descriptors = 0;  // the last: this program's limit
};
Rights rights_to(pid_t pid);

// Why the kernel refuses events on that process, with the cure, in a clause. error: errno.
std::string refusal_of_events(int error, const Rights& rights);
// The same of the rings.
std::string refusal_of_rings(int error);

}  // namespace gnomon::outside
