// What an attach does to a process through LLDB: memory, registers, the user's view. LLDB's command
// thread; the process is stopped.
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

// Room in the process, really mapped. permissions: "rw-" or "r-x". By a system call of `thread`,
// which is to run soon: until it does it is marked to be stepped, and should LLDB end before that,
// the kernel would end the process by SIGTRAP.
Result<std::uint64_t> allocate(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t bytes,
                               const std::string& permissions);
bool write(lldb::SBProcess& process, std::uint64_t address, const void* from, std::size_t bytes);

// Waits that the stop has broken, so that the program would see EINTR, begin anew.
void repair_interrupted_waits(lldb::SBProcess& process);

// At the breakpoint by which LLDB learns of libraries, be it disabled.
bool is_at_loader_breakpoint(lldb::SBThread thread);

// LLDB stops all threads for a moment whenever a library is loaded, which breaks every epoll_wait.
// For as long as it lives LLDB does not, and learns of the library the next time.
class QuietLoader {
 public:
  explicit QuietLoader(lldb::SBTarget target);
  ~QuietLoader();
  QuietLoader(const QuietLoader&) = delete;
  QuietLoader& operator=(const QuietLoader&) = delete;

 private:
  std::vector<lldb::SBBreakpoint> disabled_;
};

// What the user has chosen in the debugger, put back at the end.
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
