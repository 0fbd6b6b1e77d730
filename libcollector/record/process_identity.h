// What tells this process from every other that has or had its pid. Normal context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Empty or 0: not known.
struct ProcessIdentity {
  char boot[40];                  // of the kernel: /proc/sys/kernel/random/boot_id
  char pid_namespace[32];         // "pid:[4026531836]"
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
};

ProcessIdentity process_identity();
// A field of /proc/self/stat after the second, as proc_pid_stat(5) numbers them; 0: not told.
std::uint64_t own_stat_field(int number);

}  // namespace gnomon::collector
