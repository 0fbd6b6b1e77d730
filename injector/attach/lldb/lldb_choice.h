// Which thread of a process that LLDB holds can be borrowed, and where. LLDB's command thread; the
// process is stopped.
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
  bool stays;               // it computes where the user looks, and must not get on
  std::uint64_t flags = 0;  // its rflags
};

struct Chosen {
  Borrowed borrowed;
  bool moved;                     // the selected thread is not where it was, or will not be
  bool selected_holds;            // it is another, and inside what the collector will need
  std::chrono::nanoseconds free;  // for how long all threads ran
  lldb::tid_t selected;           // by the user
};

// Lets threads run on a little if none is fit where it is; those that the user has placed are not
// moved.
Result<Chosen> choose_thread(lldb::SBProcess& process);

}  // namespace gnomon::injector
