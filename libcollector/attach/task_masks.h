// Whether a tick could reach a thread. On the attach's helper thread; others run.
#pragma once
#include <cstdint>

#include "libcollector/core/mask_looks.h"
#include "libcollector/core/proc_status.h"

namespace gnomon::collector {

enum class Sigprof { unblocked, blocked, unsure };

// What the kernel says of thread `tid`, until it is asked again; null: nothing.
const ProcStatus* status_of(std::uint32_t tid);
// The signals that it blocks, as a mask.
std::uint64_t blocked_by(std::uint32_t tid);
struct MaskLook {
  Sigprof sigprof;
  std::uint64_t blocked;  // signals
};
MaskLook mask_of(std::uint32_t tid);
// Of an unsure one: whether it may still be in a wait for SIGPROF. Looks for as long as it runs on.
bool may_be_waiting(std::uint32_t tid, MaskLooks& looks);

}  // namespace gnomon::collector
