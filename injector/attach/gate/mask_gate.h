// What a thread of a process that a debugger holds is sent through so that it does not block
// SIGPROF any more, or does again. Any thread.
#pragma once
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/attach/gate/gate_offsets.h"

namespace gnomon::injector {

enum class MaskChange : std::uint64_t { block = SIG_BLOCK, unblock = SIG_UNBLOCK };

// In the target's memory, one for each thread.
struct MaskGate {
  std::uint64_t registers[8];
  std::uint64_t before, set;
  std::uint64_t turns;  // of waiting before it goes on; 0: it does not wait
  MaskChange change;
};
static_assert(offsetof(MaskGate, before) == MASK_GATE_BEFORE);
static_assert(offsetof(MaskGate, set) == MASK_GATE_SET);
static_assert(offsetof(MaskGate, turns) == MASK_GATE_TURNS);
static_assert(offsetof(MaskGate, change) == MASK_GATE_CHANGE);

// The code for a thread that goes on at `rip`, and whose block is at `block`. It stores 0 at
// `mask_emulated` if the thread did not block SIGPROF.
std::vector<char> mask_gate_code(std::uint64_t block, std::uint64_t mask_emulated,
                                 std::uint64_t rip);
// Bytes from the start of the code to where a thread waits: all is as it was but for rip, rsp, rax
// and flags.
std::uint64_t mask_gate_stay_offset();

inline constexpr std::uint64_t kMaskGateBytes = 256;  // room for the code

}  // namespace gnomon::injector
