// Pauses a thread's clock while a SIGPROF of the program's is sent, which a pending tick would
// swallow. The collector's signal handler and normal context.
#pragma once
#include <signal.h>

#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {

// During its lifetime no tick of the calling thread's clock is pending or becomes pending: the
// kernel does not queue a second SIGPROF for a thread. The caller has blocked SIGPROF.
class ClockPause {
 public:
  explicit ClockPause(Thread& thread);
  ~ClockPause();
  ClockPause(const ClockPause&) = delete;
  ClockPause& operator=(const ClockPause&) = delete;

 private:
  Thread& thread_;
  bool was_ticking_;
  siginfo_t other_{};  // a SIGPROF that was pending and is no tick
};

// Sends a SIGPROF that reached this thread again, to the process or to the thread as it was sent.
void send_again(const siginfo_t& info);
bool is_for_process(const siginfo_t& info);
// Returns false if this process has no such thread.
bool send_to_thread(std::uint32_t tid, const siginfo_t& info);

}  // namespace gnomon::collector
