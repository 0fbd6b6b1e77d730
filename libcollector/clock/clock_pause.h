// For sending a thread a SIGPROF that is not to be lost. Our handler and normal context.
#pragma once
#include <signal.h>

#include "libcollector/core/thread_slots.h"

namespace gnomon::collector {

// As long as it lives no tick of the calling thread's clock is pending or becomes so: a thread that
// one SIGPROF is pending for is sent no second one. With SIGPROF blocked by the caller.
class ClockPause {
 public:
  explicit ClockPause(Thread& thread);
  ~ClockPause();
  ClockPause(const ClockPause&) = delete;
  ClockPause& operator=(const ClockPause&) = delete;

 private:
  Thread& thread_;
  bool was_ticking_;
  siginfo_t other_{};  // was pending and is no tick
};

// Sends a SIGPROF that reached this thread once more, as it was sent: to the process or the thread.
void send_again(const siginfo_t& info);
bool is_for_process(const siginfo_t& info);
// False: there is no such thread in this process.
bool send_to_thread(std::uint32_t tid, const siginfo_t& info);

}  // namespace gnomon::collector
