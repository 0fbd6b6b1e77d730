// Walks the call stack of a stopped thread of another process by the CFI of its load objects. Any
// thread; stops nothing.
#pragma once
#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gnomon::injector {

// Indexed by DWARF register number (System V ABI for AMD64, figure 3.36); 16 is the program
// counter.
using DwarfRegisters = std::array<std::uint64_t, 17>;

struct Frame {
  std::uint64_t pc;
  // pc is the instruction that runs next: in the innermost frame, and in a frame that a signal
  // interrupted. In every other frame pc is a return address.
  bool is_interrupted;
};

struct CallStack {
  std::vector<Frame> frames;  // innermost first
  bool is_whole = false;      // false: the walk ended where CFI was missing
};

// A function and its source line, as the object's files tell; empty and 0 where they do not.
struct Named {
  std::string symbol;        // as in the file: C++ and Rust names are mangled
  std::uint64_t offset = 0;  // from the symbol's beginning
  std::string object;        // path
  std::string file;          // path of the source
  int line = 0;
};

class RemoteStacks {
 public:
  enum class Names { left_out, read };
  // Reads the load objects mapped now; for names their debug files, too. An object that cannot be
  // read ends each walk that reaches it.
  explicit RemoteStacks(pid_t pid, Names names = Names::left_out);
  CallStack walk(const DwarfRegisters& registers);
  // For an object with names. Of a caller, ask for an address within its call instruction.
  Named name_of(std::uint64_t address) const;

 private:
  struct Closer {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  struct Thread {
    pid_t pid = 0;
    DwarfRegisters registers{};
  };
  static const Dwfl_Thread_Callbacks kThreads;

  std::unique_ptr<Thread> thread_;  // read by libdwfl's callbacks
  std::unique_ptr<Dwfl, Closer> dwfl_;
};

}  // namespace gnomon::injector
