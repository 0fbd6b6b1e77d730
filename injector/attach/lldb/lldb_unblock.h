// Threads of a process that LLDB holds, which block SIGPROF: it is taken out of their masks, or put
// there again, by code that they run themselves. LLDB's command thread; the process is stopped.
#pragma once
#include <lldb/API/LLDB.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "injector/attach/insertion.h"
#include "injector/attach/unblock.h"

namespace gnomon::injector {

// A thread as it stands, and with which registers it can be sent on.
struct Way {
  Stopped stopped;
  Resume on;
  bool waits;  // in a system call, which begins anew
};

class LldbUnblocking {
 public:
  LldbUnblocking(lldb::SBProcess& process, const Insertion& insertion)
      : process_(process), insertion_(insertion) {}

  // True once the insertion asks, and then where a look may find what the last did not. Any thread.
  bool is_due() const;
  // Answers the insertion at the end of the time where a look would find no more: to look is to
  // stop the process. Any thread.
  void give_up_in_time();
  // Sends those through that are fit where they stand, and has those that are suspended back there
  // before it returns; the others are looked at again. Answers once
  // there is none, or they have been looked at often enough.
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
  std::vector<std::optional<Place>> places_;  // where they stood
  std::vector<pid_t> sent_;
  int looks_ = 0;
  Clock::time_point next_{}, limit_{};
};

}  // namespace gnomon::injector
