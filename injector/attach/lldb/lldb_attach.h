// Brings the collector into a process that LLDB holds stopped. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include "injector/attach/insertion.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Afterwards the process is stopped again, with the same thread and frame selected. A Fault says
// why it is not recorded.
Result<AttachResult> attach_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                    const Settings& settings);
// Ends that recording and gives the process back what the collector has changed. A Fault says why
// it is still recorded, or why its calls still go through the collector.
Result<AttachResult> release_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                     std::uint64_t session);

}  // namespace gnomon::injector
