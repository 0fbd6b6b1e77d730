// Brings the collector into a running process that no debugger holds, by ptrace(2). Called and
// finished on one thread.
#pragma once
#include <sys/types.h>

#include "injector/attach/insertion.h"
#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The process keeps running, except for one thread at a time. A Fault says why it is not recorded.
Result<AttachResult> attach_by_ptrace(pid_t pid, const Settings& settings);
// Ends that recording and gives the process back what the collector has changed. A Fault says why
// it is still recorded, or why its calls still go through the collector.
Result<AttachResult> release_by_ptrace(pid_t pid, std::uint64_t session);

}  // namespace gnomon::injector
