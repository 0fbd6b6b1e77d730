// The mask gate: code through which a thread of a debugged process is sent to unblock SIGPROF, or
// to block it again. Any thread.
#include "injector/attach/gate/mask_gate.h"

#include <cstring>

extern "C" {
extern const char mask_begin[] asm("mask_gate_code") __attribute__((visibility("hidden")));
extern const char mask_stay[] asm("mask_gate_stay") __attribute__((visibility("hidden")));
extern const char mask_words[] asm("mask_gate_words") __attribute__((visibility("hidden")));
extern const char mask_end[] asm("mask_gate_end") __attribute__((visibility("hidden")));
}

namespace gnomon::injector {

std::vector<char> mask_gate_code(std::uint64_t block, std::uint64_t mask_emulated,
                                 std::uint64_t rip) {
  std::vector<char> code(mask_begin, mask_end);
  const std::uint64_t words[] = {block, mask_emulated, rip};
  std::memcpy(code.data() + MASK_GATE_ADDRESS, &block, sizeof block);
  std::memcpy(code.data() + (mask_words - mask_begin), words, sizeof words);
  return code;
}

std::uint64_t mask_gate_stay_offset() { return static_cast<std::uint64_t>(mask_stay - mask_begin); }

}  // namespace gnomon::injector
