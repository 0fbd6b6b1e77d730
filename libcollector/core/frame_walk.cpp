// Walks a thread's frame-pointer chain. Any context, signal handlers too: reads checked memory
// only.
#include "libcollector/core/frame_walk.h"

namespace gnomon::collector {

Walked walk_frames(const Registers& at, const StackBounds& bounds, std::uint64_t* frames,
                   std::uint32_t max) {
  const auto in_root = [&](std::uint64_t pc) {
    return pc >= bounds.root_begin && pc < bounds.root_end;
  };
  frames[0] = at.pc;
  std::uint32_t count = 1;
  if (bounds.root_fp == 0) return {count, true};
  // On another stack (an alternate signal stack, a coroutine's) nothing is known about what is
  // mapped between here and the top.
  if (at.sp < bounds.low || at.sp >= bounds.high) return {count, true};
  if (at.fp == bounds.root_fp) return {count, !in_root(at.pc)};

  std::uint64_t floor = at.sp;
  for (std::uint64_t fp = at.fp; count < max;) {
    if (fp < floor || fp % 8 != 0 || fp > bounds.high - 16) break;
    const auto* frame = reinterpret_cast<const std::uint64_t*>(fp);
    const std::uint64_t next = frame[0], caller = frame[1] - 1;
    const bool arrived = next == bounds.root_fp && in_root(caller);
    if (!arrived || bounds.keep_root) frames[count++] = caller;
    if (arrived) return {count, false};
    floor = fp + 16;
    fp = next;
  }
  return {count, true};
}

}  // namespace gnomon::collector
