// Identifies a process among all that have or had its pid. Normal context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// A field that is not known is empty or 0.
struct ProcessIdentity {
  char boot[40];                  // of the kernel: /proc/sys/kernel/random/boot_id
  char pid_namespace[32];         // "pid:[4026531836]"
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
};

// process: its directory, such as "/proc/self".
ProcessIdentity process_identity(const char* process);
// Returns a field of its file `stat` behind the second, numbered as in proc_pid_stat(5); 0 if it
// cannot be read.
std::uint64_t stat_field(const char* process, int number);

}  // namespace gnomon::collector
