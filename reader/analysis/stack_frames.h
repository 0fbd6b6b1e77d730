// The frames of the call stacks that events name. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "reader/analysis/all_sums.h"
#include "reader/base/interrupt.h"
#include "reader/base/large_vector.h"
#include "reader/base/result.h"

namespace gnomon::reader {

// nothing: no event's stack passes here, or the node is a mark. cut: stands for the callers that a
// walk did not reach.
enum class FrameKind : std::uint8_t { nothing, cut, code };

struct StackFrame {
  std::uint32_t caller = 0;  // number of the caller's frame, which is smaller; 0: it is outermost
  Epoch epoch;
  std::uint64_t pc = 0;
  FrameKind kind = FrameKind::nothing;
  std::uint8_t mark = 0;  // how the walk ended, format/stacks.h; 0: it is whole
  bool is_leaf = false;   // of an event
};

// The frames of all parts, one part behind the other. A frame's number is that of its stack behind
// the first one of its part.
struct StackFrames {
  LargeVector<StackFrame> all;
  std::vector<std::uint32_t> first;  // by part
  bool has_kernel = false;           // some are the kernel's
};

// Fault: an event names a stack that is not there, or the user interrupted.
Result<StackFrames> stack_frames(const AllSums& sums, const Interrupt& interrupt);

}  // namespace gnomon::reader
