// How finely this machine can measure a thread's CPU time by signals. Any thread.
#pragma once
#include <cstdint>

namespace gnomon::commands {

struct MachineClock {
  bool is_exact;       // this user may open perf events on the task clock
  std::uint64_t tick;  // of the kernel, ns: how often a timer can expire where none may be opened
};

// Measured at the first call.
const MachineClock& machine_clock();

}  // namespace gnomon::commands
