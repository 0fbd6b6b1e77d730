// The collector comes into a running process that no debugger holds. One thread of ours, from its
// call to its return.
#pragma once
#include <sys/types.h>

#include "injector/attach/insertion.h"
#include "injector/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The process runs on meanwhile, but for one thread at a time. A fault: it is not recorded, and
// why.
Result<AttachResult> attach_by_ptrace(pid_t pid, const Settings& settings);
// Ends that recording and gives the process back what the collector has of it. A fault: it is
// recorded, or the collector stands behind its calls still, and why.
Result<AttachResult> release_by_ptrace(pid_t pid, std::uint64_t session);

}  // namespace gnomon::injector
