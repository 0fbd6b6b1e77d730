// Reads /proc/self/task/TID/status and /syscall. Any context: raw system calls, 4 KiB of stack.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// The system call in which thread `tid` of this process stands, and its first argument.
constexpr long kNoCall = -1,
               kUnknownCall = -2;  // waits outside a system call; runs, or is unreadable
struct SystemCall {
  long number;
  std::uint64_t first;
};
SystemCall system_call_of(std::uint32_t tid);

class ProcStatus {
 public:
  // tid: a thread of this process. Returns false if its status cannot be read.
  bool read(std::uint32_t tid);
  // Returns the text behind "NAME:" and a tab, which goes on to the end of the file, or null if
  // there is no such line.
  const char* find(const char* name) const;
  // Returns a set of signals (SigBlk, SigPnd, ...), bit 0 for signal 1; 0 if the file does not
  // tell.
  std::uint64_t mask(const char* name) const;
  std::uint64_t blocked() const { return mask("SigBlk"); }
  // Returns how often the thread has waited for anything (voluntary context switches), modulo 2^32;
  // 0 if the file does not tell.
  std::uint32_t waits() const;

 private:
  char text_[4096];
};

}  // namespace gnomon::collector
