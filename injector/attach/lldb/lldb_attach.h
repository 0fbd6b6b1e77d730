// The collector comes into a process that LLDB holds stopped. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include "injector/attach/insertion.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The process is stopped again afterwards, its selected thread and frame as they were. A fault: it
// is not recorded, and why.
Result<AttachResult> attach_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                    const Settings& settings);
// Ends that recording and gives the process back what the collector has of it. Otherwise as above.
// A fault: it is recorded, or the collector stands behind its calls still, and why.
Result<AttachResult> release_by_lldb(lldb::SBDebugger debugger, lldb::SBProcess process,
                                     std::uint64_t session);

}  // namespace gnomon::injector
