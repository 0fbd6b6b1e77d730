// The mask gate: code through which a thread of a debugged process is sent to unblock SIGPROF, or
// to block it again. Any thread.
#pragma once
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/attach/gate/gate_offsets.h"

namespace gnomon::injector {

enum class MaskChange : std::uint64_t { block = SIG_BLOCK, unblock = SIG_UNBLOCK };

// The data block in the target's memory, one a thread.
struct MaskGate {
  std::uint64_t registers[8];
  std::uint64_t before, set;
  std::uint64_t turns;  // rounds that the thread waits before it goes on; 0: it does not wait
  MaskChange change;
};
static_assert(offsetof(MaskGate, before) == MASK_GATE_BEFORE);
static_assert(offsetof(MaskGate, set) == MASK_GATE_SET);
static_assert(offsetof(MaskGate, turns) == MASK_GATE_TURNS);
static_assert(offsetof(MaskGate, change) == MASK_GATE_CHANGE);

// Returns the code for a thread that goes on at `rip`. block: address of its data block. The code
// stores 0 at `mask_emulated` if the thread did not block SIGPROF.
std::vector<char> mask_gate_code(std::uint64_t block, std::uint64_t mask_emulated,
                                 std::uint64_t rip);
// Offset in the code where a thread waits; all its registers but rip, rsp, rax and flags are
// restored there.
std::uint64_t mask_gate_stay_offset();

inline constexpr std::uint64_t kMaskGateBytes = 256;  // room for the code

}  // namespace gnomon::injector
