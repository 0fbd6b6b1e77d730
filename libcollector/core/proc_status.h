// What /proc/self/task/TID says: lines of status, and syscall. Any context: raw system calls, 4 KiB
// of stack.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// The system call that thread `tid` of this process stands in, and its first argument.
constexpr long kNoCall = -1, kUnknownCall = -2;  // it waits elsewhere; it runs or cannot be read
struct SystemCall {
  long number;
  std::uint64_t first;
};
SystemCall system_call_of(std::uint32_t tid);

class ProcStatus {
 public:
  // tid: of this process. False: it cannot be read.
  bool read(std::uint32_t tid);
  // What follows "NAME:" and a tab, up to the end of the text; null: there is no such line.
  const char* find(const char* name) const;
  // The mask of blocked signals, bit 0 for signal 1; 0: not told.
  std::uint64_t blocked() const;
  // How often it has waited for something, modulo 2^32; 0: not told.
  std::uint32_t waits() const;

 private:
  char text_[4096];
};

}  // namespace gnomon::collector
