// Unwinder: callers of frames without unwind information, such as assembler routines and code made
// at run time. Any context, signal handlers too.
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {
namespace {

using format::WalkEnd;

constexpr std::uint32_t kScanned = 256;  // words of a frame
constexpr std::uint32_t kTried = 8;      // of these, return addresses

const unsigned char* bytes_at(std::uint64_t address) {
  return reinterpret_cast<const unsigned char*>(address);
}

// Returns the length of a call instruction with opcode FF /2, by its second and third byte; 0: it
// is another one. Intel SDM, volume 2, 2.1.5.
int call_length(unsigned char modrm, unsigned char sib) {
  const int mode = modrm >> 6, rm = modrm & 7;
  if ((modrm >> 3 & 7) != 2) return 0;
  if (mode == 3) return 2;
  const bool has_sib = rm == 4;
  const bool wide = mode == 2 || (mode == 0 && (rm == 5 || (has_sib && (sib & 7) == 5)));
  return 2 + (has_sib ? 1 : 0) + (mode == 1 ? 1 : 0) + (wide ? 4 : 0);
}

// Returns true if a call instruction ends at `end`, E8 or FF /2. Eight bytes before it are read.
bool ends_with_call(const unsigned char* end) {
  if (end[-5] == 0xe8) return true;
  for (int length = 2; length <= 7; ++length)
    if (end[-length] == 0xff && call_length(end[1 - length], end[2 - length]) == length)
      return true;
  return false;
}

// Returns true if the code only jumps on through memory, as entries of procedure linkage tables do:
// endbr64 and bnd may stand before.
bool is_linkage(const unsigned char* code) {
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;
  if (code[0] == 0xf2) ++code;
  return code[0] == 0xff && code[1] == 0x25;
}

}  // namespace

// Returns true if a call stands before `address` that may lead anywhere, by a register, a word or a
// linkage table. Of a direct one of a function stores where that begins; else `target` is 0.
bool Unwinder::may_return(std::uint64_t address, std::uint64_t& target) {
  target = 0;
  FrameTable table;
  if (address >> 47 != 0 || address < 4096 || !find_(address - 1, table)) return false;
  const std::uint64_t here = address + table.shift;
  const ByteRange code = table.segment_of(here - 1);
  if (!code.contains(here - 8) || !ends_with_call(bytes_at(here))) return false;
  if (*bytes_at(here - 5) != 0xe8) return true;
  std::int32_t distance = 0;
  __builtin_memcpy(&distance, bytes_at(here - 4), sizeof distance);
  target = address + static_cast<std::uint64_t>(std::int64_t{distance});
  const std::uint64_t called = target + table.shift;
  const ByteRange mapped = table.segment_of(called);
  return mapped.contains(called) && mapped.contains(called + 16) && is_linkage(bytes_at(called));
}

// Returns true if `address` may be the return address of a call that led to `from`, which has no
// unwind information. A direct call must be a call of that code, or of a linkage table's entry.
bool Unwinder::may_return_to(std::uint64_t address, std::uint64_t from) {
  std::uint64_t target = 0;
  if (may_return(address, target)) return true;
  return target != 0 && kind_of(rule_at(target)) == RuleKind::none && target <= from;
}

bool Unwinder::may_return_from(std::uint64_t address, std::uint64_t pc) {
  std::uint64_t target = 0;
  return may_return(address, target) || (target != 0 && is_one_function(target, pc));
}

// Looks for a return address between the stack pointer and what may be the frame's own frame
// pointer. It counts if unwind information alone leads from there to a root, because a wrong place
// on the stack makes the next frames read wrong return addresses.
Walked Unwinder::guess(Cursor& at, std::uint32_t count, Walk& walk) {
  Walked found{count, WalkEnd::no_rule, true};
  std::uint64_t word = 0, below = 0;
  std::uint32_t tried = 0;
  if (kind_of(rule_at(at.code())) == RuleKind::no_object || count == walk.max) return found;
  walk.may_guess = false;
  for (std::uint32_t i = 0; i < kScanned && tried < kTried && found.truncated(); ++i) {
    const std::uint64_t slot = at.sp() + 8ull * i;
    below = word;
    if (slot == at.fp() + 8 || !at.load(slot, word)) break;
    if (!may_return_to(word, at.code())) continue;
    ++tried;
    // The code may have pushed rbp first.
    const std::uint64_t pointers[] = {at.fp(), below};
    for (const std::uint64_t fp : pointers) {
      Cursor caller = at;
      caller.become(word, slot + 8, fp, nullptr);
      found = follow(caller, count, walk);
      if (!found.truncated()) break;
    }
  }
  walk.may_guess = true;
  found.guessed = true;
  return found;
}

Unwinder::Step Unwinder::step_by_frame_pointer(Cursor& at) {
  std::uint64_t fp = 0, caller = 0;
  if (!at.load(at.fp(), fp) || !at.load(at.fp() + 8, caller) || caller == 0) return Step::cut;
  at.become(caller, at.fp() + 16, fp, nullptr);
  return Step::caller;
}

}  // namespace gnomon::collector
