// Which thread of a process that LLDB holds can be borrowed, and where. LLDB's command thread; the
// process is stopped.
#pragma once
#include <lldb/API/LLDB.h>

#include "injector/attach/safe_point.h"
#include "injector/attach/waiting.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct Borrowed {
  lldb::SBThread thread;
  Stopped stopped;
  Resume resume;
  bool stays;  // it computes where the user looks, and must not get on
};

// Lets threads run on a little if none is fit where it is; those that the user has placed are not
// moved. `moved`: the selected one was.
Result<Borrowed> choose_thread(lldb::SBProcess& process, bool& moved);

}  // namespace gnomon::injector
