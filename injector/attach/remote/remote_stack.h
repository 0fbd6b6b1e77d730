// The call stack of a stopped thread of another process, by the CFI of its load objects. Any
// thread; stops nothing.
#pragma once
#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace gnomon::injector {

// By their numbers in DWARF (System V ABI for AMD64, figure 3.36); 16 is the program counter.
using DwarfRegisters = std::array<std::uint64_t, 17>;

struct Frame {
  std::uint64_t pc;
  // Nothing was called here: the innermost frame, and those that a signal interrupted. Of the
  // others `pc` is a return address.
  bool is_interrupted;
};

struct CallStack {
  std::vector<Frame> frames;  // innermost first
  bool is_whole = false;      // false: it ends early, where the CFI does
};

class RemoteStacks {
 public:
  // Of the load objects that the process has now; one that cannot be read ends each walk that comes
  // to it.
  explicit RemoteStacks(pid_t pid);
  CallStack walk(const DwarfRegisters& registers);

 private:
  struct Closer {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  struct Thread {
    pid_t pid = 0;
    DwarfRegisters registers{};
  };
  static const Dwfl_Thread_Callbacks kThreads;

  std::unique_ptr<Thread> thread_;  // what the callbacks see
  std::unique_ptr<Dwfl, Closer> dwfl_;
};

}  // namespace gnomon::injector
