// The frames that a debugger shows of a stopped thread. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gnomon::reader {

struct BacktraceFrame {
  std::uint64_t pc = 0;     // what runs next in the frame
  bool is_inlined = false;  // shares the code of the frame behind it
  bool is_selected = false;
  std::string name;   // as the debugger has it
  std::string place;  // "file.c:12", or the load object; may be empty
};

// The innermost frame first; its number is 0.
using Backtrace = std::vector<BacktraceFrame>;

// An address at which a call has happened, or the next instruction, in a frame of that number.
// level: how many inlined frames share the code with the frame, further in.
inline std::uint64_t code_of(const Backtrace& backtrace, std::size_t number) {
  std::size_t level = 0;
  while (level < number && backtrace[number - level - 1].is_inlined) ++level;
  // The instruction behind a call may belong to another line, or function.
  return backtrace[number].pc - (number > level ? 1 : 0);
}

}  // namespace gnomon::reader
