// Walks a thread's frame-pointer chain. Any context, signal handlers too: reads checked memory
// only.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Where a thread's stack lies and where the program's part of it begins.
struct StackBounds {
  std::uint64_t low =
      0;  // from here to high everything is mapped that lies above the stack pointer
  std::uint64_t high = 0;     // one past the highest
  std::uint64_t root_fp = 0;  // frame pointer of the collector's own outermost frame; 0: none yet
  std::uint64_t root_begin = 0, root_end = 0;  // code of that frame
  bool keep_root = false;                      // that frame is part of the call stack
};

struct Registers {
  std::uint64_t pc, sp, fp;
};

struct Walked {
  std::uint32_t count = 0;  // frames stored
  bool truncated = false;   // the chain ended before the root frame
};

// Stores the interrupted pc, then for each caller the last byte of its call instruction, leaf
// first. max > 0. Whole only if the chain arrives by a return into the root's code: functions
// without a frame leave the frame pointer alone, so that it alone would prove nothing.
Walked walk_frames(const Registers& at, const StackBounds& bounds, std::uint64_t* frames,
                   std::uint32_t max);

}  // namespace gnomon::collector
