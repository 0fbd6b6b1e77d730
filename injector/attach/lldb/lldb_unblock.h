// Changes whether threads of a process that LLDB holds block SIGPROF, by code that the threads run
// themselves. LLDB's command thread; the process is stopped.
#pragma once
#include <lldb/API/LLDB.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "injector/attach/insertion.h"
#include "injector/attach/unblock.h"

namespace gnomon::injector {

// A thread's registers, and those with which it can be sent through the mask gate.
struct Way {
  Stopped stopped;
  Resume on;
  bool waits;  // in a system call, which restarts
};

class LldbUnblocking {
 public:
  LldbUnblocking(lldb::SBProcess& process, const Insertion& insertion)
      : process_(process), insertion_(insertion) {}

  // Returns true once the insertion asks for masks, and then whenever a look may find more than the
  // last one. Any thread.
  bool is_due() const;
  // Answers the insertion when time is up and another look, which would stop the process, would
  // find nothing more. Any thread.
  void give_up_in_time();
  // Sends the threads through that can be sent from where they stand; suspended ones are back there
  // when it returns. The others are looked at again. Answers the insertion once none is left or all
  // have been looked at often enough.
  void look();
  // The threads that were sent through.
  const std::vector<pid_t>& sent() const { return sent_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_asked() const;
  bool has_moved() const;
  bool try_one(const format::BlockingThread& blocking, std::uint64_t index, MaskPoints& points);
  bool send(lldb::SBThread thread, const Way& way, std::uint64_t entry);
  bool send_and_return(lldb::SBThread thread, const Way& way, std::uint64_t entry);

  lldb::SBProcess& process_;
  const Insertion& insertion_;
  std::vector<format::BlockingThread> threads_;
  std::vector<std::optional<Place>> places_;  // where the threads stood at the last look
  std::vector<pid_t> sent_;
  int looks_ = 0;
  Clock::time_point next_{}, limit_{};
};

}  // namespace gnomon::injector
