// The gate: code and a data block that are put into a running process to load a library. Any
// thread.
#include "injector/attach/gate/gate.h"

#include <cstring>

extern "C" {
extern const char code_begin[] asm("gate_code") __attribute__((visibility("hidden")));
extern const char code_stay[] asm("gate_stay") __attribute__((visibility("hidden")));
extern const char code_helper[] asm("gate_helper") __attribute__((visibility("hidden")));
extern const char code_words[] asm("gate_words") __attribute__((visibility("hidden")));
extern const char code_end[] asm("gate_end") __attribute__((visibility("hidden")));
}

namespace gnomon::injector {

std::vector<char> gate_code(std::uint64_t gate, std::uint64_t sp, std::uint64_t rip) {
  std::vector<char> code(code_begin, code_end);
  const std::uint64_t words[] = {gate, sp, rip};
  std::memcpy(code.data() + (code_words - code_begin), words, sizeof words);
  return code;
}

std::uint64_t gate_stay_offset() { return static_cast<std::uint64_t>(code_stay - code_begin); }
std::uint64_t gate_helper_offset() { return static_cast<std::uint64_t>(code_helper - code_begin); }

}  // namespace gnomon::injector
