// Unwinder: the call stack of an interrupted thread, by the rules of its load objects' .eh_frame;
// of a thread of another process by a copy of its stack. Any context, signal handlers too: no lock,
// no heap, every load checked against the stack.
#pragma once
#include <cstdint>

#include "libcollector/core/loaded_hold.h"
#include "libcollector/format/stacks.h"
#include "libcollector/unwind/cursor.h"
#include "libcollector/unwind/frame_table.h"
#include "libcollector/unwind/rule_cache.h"

namespace gnomon::collector {

// Stores the frame table of the load object that contains `pc`, which may be empty. Returns false
// if no object contains it. Takes no lock.
using FindTable = bool (*)(std::uint64_t pc, FrameTable& found);

// A call stack that returns into one of the roots, under which the program runs, is whole. Roots
// may come to be known while stacks are walked.
struct Roots {
  ByteRange silent;  // not part of the call stack
  ByteRange kept;    // its outermost frame
  // Code of the collector, which stands for no frame where it calls something: hooks.
  ByteRange hidden = {};
  std::uint64_t kept_as = 0;  // the code that is stored for `kept`; 0: that itself
  bool is_silent(std::uint64_t code) const { return has(silent, code); }
  bool is_kept(std::uint64_t code) const { return has(kept, code); }
  bool hides(std::uint64_t code) const { return hidden.contains(code) && !is_kept(code); }
  std::uint64_t stored(std::uint64_t code) const {
    return kept_as != 0 && is_kept(code) ? kept_as : code;
  }

 private:
  static bool has(const ByteRange& range, std::uint64_t code) {
    return code >= __atomic_load_n(&range.begin, __ATOMIC_RELAXED) &&
           code < __atomic_load_n(&range.end, __ATOMIC_RELAXED);
  }
};

// As the control page has them.
inline Roots& as_roots(std::uint64_t (&words)[7]) {
  static_assert(sizeof(Roots) == sizeof words);
  return reinterpret_cast<Roots&>(words);
}

struct Interrupted {
  const std::uint64_t* saved;  // kSavedCount registers in the kernel's order
  ThreadStacks stacks;
};

struct Walked {
  std::uint32_t count = 0;  // frames stored
  format::WalkEnd end = format::WalkEnd::whole;
  bool guessed = false;  // some caller was found without unwind information
  bool hid = false;      // some frame was left out
  std::uint64_t sp = 0;  // of the outermost frame, where the walk ended
  bool truncated() const { return end != format::WalkEnd::whole; }
};

class Unwinder {
 public:
  // Returns false if memory is short. roots: stay there, and may become more. Normal context.
  bool open(FindTable find, const Roots& roots);
  bool open(FindTable find, const Roots&& roots) = delete;

  // Forgets all rules, because code was unloaded and other code may come to lie there. Any context.
  void forget() {
    cache_.clear();
    __atomic_fetch_add(&version_, 1, __ATOMIC_RELEASE);
  }
  // Another one after each forget(); never 0.
  std::uint32_t version() const { return __atomic_load_n(&version_, __ATOMIC_ACQUIRE); }

  // Stores the frames' pcs, leaf first: the interrupted pc, then for each caller the last byte of
  // its call instruction; for a frame that a signal interrupted, and for the kernel's signal frame,
  // the pc itself. max > 0. Guessed callers may lie in any object, which stays loaded until `hold`
  // ends; while one is being unloaded nothing is guessed.
  Walked walk(const Interrupted& at, std::uint64_t* frames, std::uint32_t max, LoadedHold& hold);
  // Likewise from the frame that calls on: for each frame the last byte of its call instruction.
  Walked walk(const Call& call, const ThreadStacks& stacks, std::uint64_t* frames,
              std::uint32_t max, LoadedHold& hold);

  // Returns true if unwind information says that both addresses lie in one function.
  bool is_one_function(std::uint64_t one, std::uint64_t other);
  // Returns true if a call that returns to `address` may have led to the function at `pc`. It
  // calls that function, an entry of a linkage table, or an address in a register or in memory.
  bool may_return_from(std::uint64_t address, std::uint64_t pc);
  // The rule of the code at `pc`.
  PackedRule rule_at(std::uint64_t pc);
  const Roots& roots() const { return *roots_; }

 private:
  // One walk, from the interrupted frame.
  struct Walk {
    ThreadStacks stacks;
    std::uint64_t* frames;
    std::uint32_t max;
    LoadedHold& hold;
    DwarfRegister followed = kNoRegister;
    DwarfRegister wanted = kNoRegister;  // the walk ended because this one was not followed
    std::uint32_t switches = 0;          // from one stack to another
    bool may_guess = true;
    bool hid = false;
  };
  enum class Step : std::uint8_t { caller, outermost, cut };

  template <typename From>
  Walked walk_from(const From& from, std::uint64_t pc, Walk& walk);
  // Stores the frame `at` as number `count`, then its callers, to the root.
  Walked follow(Cursor& at, std::uint32_t count, Walk& walk);
  Step step(Cursor& at, PackedRule rule, Walk& walk);
  Step step_by_rule(Cursor& at, PackedRule rule, Walk& walk);
  Step step_evaluated(Cursor& at, Walk& walk);
  static bool cfa_of(Cursor& at, PackedRule rule, std::uint64_t& cfa);
  static bool find_cfa(Cursor& at, const Row& row, std::uint64_t& cfa);
  static Step step_over_signal(Cursor& at, Walk& walk);
  const std::uint64_t* follow_kept(Cursor& at, std::uint64_t cfa, const Walk& walk,
                                   std::uint64_t& value) const;
  // For frames without unwind information.
  Walked guess(Cursor& at, std::uint32_t count, Walk& walk);
  bool may_return(std::uint64_t address, std::uint64_t& target);
  bool may_return_to(std::uint64_t address, std::uint64_t from);
  Step step_by_frame_pointer(Cursor& at);

  RuleCache cache_;
  std::uint32_t version_ = 1;
  FindTable find_ = nullptr;
  const Roots* roots_ = nullptr;
};

}  // namespace gnomon::collector
