// Is what LLDB shows a process of this machine? LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include "reader/base/result.h"

namespace gnomon::injector {

// Returns true for a core file or another record of a process: nothing runs there.
bool is_record(lldb::SBProcess process);

// Returns a Fault if the process's number means another one here, or a thread: LLDB may have
// connected to another machine. The process is held by LLDB.
Result<void> check_is_local(lldb::SBProcess process);

}  // namespace gnomon::injector
