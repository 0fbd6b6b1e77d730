// One frame of a walk: its registers, and the stack in which they point. Any context, signal
// handlers too: every load is checked against that stack.
#pragma once
#include <cstdint>

#include "libcollector/unwind/cfa_program.h"
#include "libcollector/unwind/registers.h"
#include "libcollector/unwind/rule.h"

namespace gnomon::collector {

// The stacks of a thread. From the stack pointer of a frame up to the end of its range all is
// mapped. Of a thread of another process `own` is the part of which there is a copy, `alternate` is
// empty, and nothing else can be read.
struct ThreadStacks {
  ByteRange own, alternate;
  std::uint64_t shift = 0;  // address of a copy - address in the other process; 0: no copy
};

// A call that has not returned, as the called function sees it.
struct Call {
  std::uint64_t slot;  // where the return address stands
  std::uint64_t pc;    // the return address
  std::uint64_t fp;    // the caller's rbp
};

class Cursor {
 public:
  // saved: kSavedCount registers in the kernel's order, of a frame that a signal interrupted.
  // follow: a further register whose value is to be known in its callers, or kNoRegister.
  Cursor(const std::uint64_t* saved, DwarfRegister follow) : followed_(follow) { restore(saved); }

  // Stands at the frame that calls.
  Cursor(const Call& call, DwarfRegister follow)
      : pc_(call.pc), sp_(call.slot + 8), fp_(call.fp), followed_(follow) {}

  std::uint64_t pc() const { return pc_; }
  std::uint64_t sp() const { return sp_; }
  std::uint64_t fp() const { return fp_; }
  // Where the frame runs: in its caller a return address stands behind the call.
  std::uint64_t code() const { return exact_ ? pc_ : pc_ - 1; }
  // Returns true if a signal interrupted this frame.
  bool interrupted() const { return saved_ != nullptr; }
  // Returns true on a stack that is none of the thread's, such as a coroutine's.
  bool on_foreign_stack() const { return foreign_; }
  // A register that was asked for and could have been followed; kNoRegister: none.
  DwarfRegister missed() const { return missed_; }

  // Finds the stack in which the stack pointer lies. Returns false if nothing is mapped there.
  bool enter_stack(const ThreadStacks& stacks);
  // Returns true if something was needed that lies beyond the copy of a stack.
  bool beyond_copy() const { return beyond_copy_; }
  // Returns true if rbp may point to a frame of the same stack beyond its copy, and is not data.
  bool fp_is_beyond_copy() const {
    constexpr std::uint64_t kUsualStack = 8 << 20;  // bytes
    return shift_ != 0 && fp_ % 8 == 0 && fp_ + 16 > stack_.end && fp_ < stack_.end + kUsualStack;
  }
  // Returns true if `sp` lies further out in the stack of this frame.
  bool is_outwards(std::uint64_t sp) const { return stack_.contains(sp) && sp > sp_; }

  // Returns false if the value is not known.
  bool value_of(DwarfRegister reg, std::uint64_t& value);
  // Loads an aligned word. Returns false if it does not lie in the stack.
  bool load(std::uint64_t address, std::uint64_t& value);
  // Where words that were loaded before can be read in this process.
  const std::uint64_t* words_at(std::uint64_t address) const {
    return reinterpret_cast<const std::uint64_t*>(address + shift_);
  }
  // What the caller had in `reg`, whose place in this frame is `place`.
  bool caller_value(const Place& place, DwarfRegister reg, std::uint64_t cfa, std::uint64_t& value);
  // What the caller had in rbp, by a rule that is not `evaluated`.
  bool caller_fp(PackedRule rule, std::uint64_t cfa, std::uint64_t& value);

  // Becomes the caller. pc: a return address. kept: the value of the followed register; null: not
  // known.
  void become(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp, const std::uint64_t* kept);
  // Becomes the frame that a signal interrupted.
  void restore(const std::uint64_t* saved);
  // Says that a signal interrupted this frame, whose other registers are not known.
  void set_exact() { exact_ = true; }

 private:
  // Leaf functions may keep data so far below the stack pointer (psABI, "The Stack Frame").
  static constexpr std::uint64_t kRedZone = 128;

  bool reach(std::uint64_t end);

  std::uint64_t pc_ = 0, sp_ = 0, fp_ = 0;
  const std::uint64_t* saved_ = nullptr;  // all registers, if a signal interrupted this frame
  ByteRange stack_;
  std::uint64_t shift_ = 0;  // of the stack's copy
  bool foreign_ = false;
  bool beyond_copy_ = false;
  bool exact_ = false;  // pc is the next instruction, not a return address
  bool kept_known_ = false;
  std::uint64_t kept_ = 0;  // value of the followed register
  DwarfRegister followed_, missed_ = kNoRegister;
};

}  // namespace gnomon::collector
