// Unwinder: the call stack of an interrupted thread, by the rules of its load objects' .eh_frame.
// Any context, signal handlers too: no lock, no heap, every load checked against the stack.
#pragma once
#include <cstdint>

#include "libcollector/unwind/frame_table.h"
#include "libcollector/unwind/registers.h"
#include "libcollector/unwind/rule_cache.h"

namespace gnomon::collector {

// Stores the frame table of the load object that contains `pc`. Returns false if there is none.
// Takes no lock.
using FindTable = bool (*)(std::uint64_t pc, FrameTable& found);

// Code of the functions under which the program runs. A call stack that returns into one of them is
// whole.
struct Roots {
  ByteRange silent;  // not part of the call stack
  ByteRange kept;    // its outermost frame
};

struct Interrupted {
  const std::uint64_t* saved;  // kSavedCount registers in the kernel's order
  // Everything from the stack pointer up to the end of its range is mapped.
  ByteRange stack, alternate_stack;
};

struct Walked {
  std::uint32_t count = 0;  // frames stored
  bool truncated = false;   // ended before the outermost frame
};

class Unwinder {
 public:
  // Returns false if memory is short. Normal context.
  bool open(FindTable find, const Roots& roots);

  // Forgets all rules, because code was unloaded and other code may come to lie there. Any context.
  void forget() { cache_.clear(); }

  // Stores the frames' pcs, leaf first: the interrupted pc, then for each caller the last byte of
  // its call instruction; for a frame that a signal interrupted, and for the kernel's signal frame,
  // the pc itself. max > 0.
  Walked walk(const Interrupted& at, std::uint64_t* frames, std::uint32_t max);

 private:
  struct Cursor;
  struct Walk;
  enum class Step : std::uint8_t { caller, outermost, cut };

  PackedRule rule_at(std::uint64_t pc);
  Walked walk_once(const Interrupted& at, Walk& walk);
  Step step(Cursor& at, PackedRule rule, Walk& walk);
  Step step_by_rule(Cursor& at, PackedRule rule, Walk& walk);
  static bool cfa_of(const Cursor& at, PackedRule rule, Walk& walk, std::uint64_t& cfa);
  static Step step_by_frame_pointer(Cursor& at);
  static Step step_over_signal(Cursor& at, const Walk& walk);
  void follow_kept(Cursor& at, std::uint64_t cfa, DwarfRegister reg) const;

  RuleCache cache_;
  FindTable find_ = nullptr;
  Roots roots_;
};

}  // namespace gnomon::collector
