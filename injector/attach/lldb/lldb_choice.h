// Chooses a thread of a process that LLDB holds, and the place where it can be borrowed. LLDB's
// command thread; the process is stopped.
#pragma once
#include <lldb/API/LLDB.h>

#include <chrono>

#include "injector/attach/remote/waiting.h"
#include "injector/attach/safe_point.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct Borrowed {
  lldb::SBThread thread;
  Stopped stopped;
  Resume resume;
  bool stays;               // it computes and must not leave the place where the user looks
  std::uint64_t flags = 0;  // its rflags
};

struct Chosen {
  Borrowed borrowed;
  bool moved;           // the selected thread has moved, or will
  bool selected_holds;  // the selected thread is another one and may hold a lock that the collector
                        // needs
  std::chrono::nanoseconds free;  // how long all threads ran
  lldb::tid_t selected;           // by the user
};

// Lets threads run a little further if none can be borrowed where it is; threads that the user has
// placed are not moved.
Result<Chosen> choose_thread(lldb::SBProcess& process);

}  // namespace gnomon::injector
