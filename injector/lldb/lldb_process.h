// What an attach does through LLDB's API: memory, registers, interrupted waits, the user's view.
// LLDB's command thread; the process is stopped.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "injector/attach/remote/waiting.h"
#include "reader/base/result.h"

namespace gnomon::injector {

Stopped registers_of(pid_t pid, lldb::SBThread thread);
std::uint64_t flags_of(lldb::SBThread thread);

struct Registers {
  std::uint64_t rax, rip, rsp;
};
bool set_registers(lldb::SBThread thread, const Registers& registers);
bool put_back(lldb::SBThread thread, std::uint64_t rip, std::uint64_t rsp, std::uint64_t flags);

// Allocates memory in the process and checks that it is mapped. permissions: "rw-" or "r-x". The
// system call is made by `thread`, which must run soon: LLDB leaves it marked for stepping, and if
// LLDB ended before, the process would end by SIGTRAP.
Result<std::uint64_t> allocate(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t bytes,
                               const std::string& permissions);
bool write(lldb::SBProcess& process, std::uint64_t address, const void* from, std::size_t bytes);

// Restarts the waits that the stop has interrupted and that would fail with EINTR.
void repair_interrupted_waits(lldb::SBProcess& process);

// Returns true if the thread stands at the breakpoint by which LLDB learns of libraries, also if
// that is disabled.
bool is_at_loader_breakpoint(lldb::SBThread thread);

// Disables that breakpoint during its lifetime: LLDB stops all threads whenever a library is
// loaded, which interrupts every epoll_wait. LLDB learns of the library the next time.
class QuietLoader {
 public:
  explicit QuietLoader(lldb::SBTarget target);
  ~QuietLoader();
  QuietLoader(const QuietLoader&) = delete;
  QuietLoader& operator=(const QuietLoader&) = delete;

 private:
  std::vector<lldb::SBBreakpoint> disabled_;
};

// Restores the user's selections in the debugger at the end of its lifetime.
class AsIs {
 public:
  AsIs(lldb::SBDebugger debugger, lldb::SBProcess process);
  ~AsIs();
  AsIs(const AsIs&) = delete;
  AsIs& operator=(const AsIs&) = delete;

 private:
  lldb::SBDebugger debugger_;
  lldb::SBProcess process_;
  bool async_;
  lldb::tid_t thread_;
  std::uint32_t frame_;
};

}  // namespace gnomon::injector
