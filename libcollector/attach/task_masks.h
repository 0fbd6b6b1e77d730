// Tells whether a tick could reach a thread. On the attach's helper thread; others run.
#pragma once
#include <cstdint>

#include "libcollector/core/mask_looks.h"
#include "libcollector/core/proc_status.h"

namespace gnomon::collector {

enum class Sigprof { unblocked, blocked, unsure };

// Returns /proc's status of thread `tid`, valid until the next call, or null if there is none.
const ProcStatus* status_of(std::uint32_t tid);
// Returns the signals that thread `tid` blocks.
std::uint64_t blocked_by(std::uint32_t tid);
struct MaskLook {
  Sigprof sigprof;
  std::uint64_t blocked;  // signals
};
MaskLook mask_of(std::uint32_t tid);
// Returns false if there is no such thread any more, and for a thread of with_own_descriptors(),
// which may stay for a while after its work.
bool may_need_clock(std::uint32_t tid);
// Tells whether a thread whose mask is `unsure` may still be in a wait for SIGPROF. Looks again as
// long as the thread runs.
bool may_be_waiting(std::uint32_t tid, MaskLooks& looks);

}  // namespace gnomon::collector
