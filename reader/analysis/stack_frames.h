// The frames of the call stacks that events name. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/stacks.h"

namespace gnomon::reader {

// nothing: no event's stack passes here, or the node is a mark. cut: stands for the callers that a
// walk did not reach.
enum class FrameKind : std::uint8_t { nothing, cut, code };

struct StackFrame {
  std::uint32_t caller = 0;  // number of the caller's frame, which is smaller; 0: it is outermost
  std::uint32_t epoch = 0;
  std::uint64_t pc = 0;
  FrameKind kind = FrameKind::nothing;
  std::uint8_t mark = 0;  // how the walk ended, format/stacks.h; 0: it is whole
  bool is_leaf = false;   // of an event
};

// By StackId. used: the stacks of events. Fault: an event names a stack that is not there, or the
// user interrupted.
Result<std::vector<StackFrame>> stack_frames(const std::vector<bool>& used, const Stacks& stacks,
                                             const Interrupt& interrupt);

}  // namespace gnomon::reader
