// What an attach does through LLDB's API: memory, registers, interrupted waits, the user's view.
// LLDB's command thread; the process is stopped.
#include "injector/lldb/lldb_process.h"

#include <signal.h>

#include <cstdio>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// A value of static type and without a summary: otherwise LLDB first sets up the types of the
// frame's language, 25 ms.
lldb::SBValue plain_register(lldb::SBFrame& frame, const char* name) {
  lldb::SBValue value = frame.FindRegister(name);
  value.SetPreferDynamicValue(lldb::eNoDynamicValues);
  value.SetPreferSyntheticValue(false);
  return value;
}

std::uint64_t get(lldb::SBFrame& frame, const char* name) {
  lldb::SBError error;
  return plain_register(frame, name).GetData().GetUnsignedInt64(error, 0);
}

bool set(lldb::SBFrame& frame, const char* name, std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  lldb::SBError error;
  return plain_register(frame, name).SetValueFromCString(text, error);
}

// Returns true for the breakpoint at which the loader tells a debugger that the list of load
// objects changes.
bool is_loader_breakpoint(lldb::SBBreakpoint breakpoint) {
  for (std::size_t i = 0; i < breakpoint.GetNumLocations(); ++i) {
    const char* name = breakpoint.GetLocationAtIndex(static_cast<std::uint32_t>(i))
                           .GetAddress()
                           .GetSymbol()
                           .GetName();
    if (name && std::string(name) == "_dl_debug_state") return true;
  }
  return false;
}

// LLDB's own breakpoints have negative numbers.
std::vector<lldb::SBBreakpoint> loader_breakpoints(lldb::SBTarget target) {
  constexpr int kInternal = 100;
  std::vector<lldb::SBBreakpoint> found;
  for (int id = -1; id >= -kInternal; --id) {
    lldb::SBBreakpoint breakpoint = target.FindBreakpointByID(id);
    if (breakpoint.IsValid() && is_loader_breakpoint(breakpoint)) found.push_back(breakpoint);
  }
  return found;
}

// Remembers a thread's pending signals and sends those again that were lost meanwhile. Not SIGPROF:
// the collector would take it for the program's own, and a program without a handler would end by
// it.
class SignalsToCome {
 public:
  SignalsToCome(pid_t pid, pid_t tid)
      : pid_(pid), tid_(tid), own_(to_come("SigPnd")), shared_(to_come("ShdPnd")) {}
  ~SignalsToCome() {
    constexpr int kSignals = 64;
    const auto own = to_come("SigPnd"), shared = to_come("ShdPnd");
    if (!own_ || !shared_ || !own || !shared) return;
    for (int number = 1; number <= kSignals; ++number) {
      const int bit = number - 1;
      if (*own_ >> bit & ~(*own >> bit) & 1) tgkill(pid_, tid_, number);
      if (*shared_ >> bit & ~(*shared >> bit) & 1) kill(pid_, number);
    }
  }
  SignalsToCome(const SignalsToCome&) = delete;
  SignalsToCome& operator=(const SignalsToCome&) = delete;

 private:
  // Returns nothing if the thread has ended.
  std::optional<std::uint64_t> to_come(const char* mask) const {
    const auto pending = status_mask(pid_, tid_, mask), blocked = status_mask(pid_, tid_, "SigBlk"),
               caught = status_mask(pid_, tid_, "SigCgt");
    if (!pending || !blocked || !caught) return std::nullopt;
    constexpr std::uint64_t kProfile = 1ull << (SIGPROF - 1);
    return *pending & ~*blocked & *caught & ~kProfile;
  }

  pid_t pid_, tid_;
  std::optional<std::uint64_t> own_, shared_;
};

// LLDB's server allocates memory by stepping a thread through a system call. By default it takes
// the thread that stopped last; this makes it take `thread`.
void let_do_calls(lldb::SBProcess& process, lldb::SBThread thread) {
  char command[64];
  std::snprintf(command, sizeof command, "process plugin packet send Hg%llx",
                static_cast<unsigned long long>(thread.GetThreadID()));
  lldb::SBCommandReturnObject answer;
  lldb::SBExecutionContext context(process);
  process.GetTarget().GetDebugger().GetCommandInterpreter().HandleCommand(command, context, answer,
                                                                          false);
}

}  // namespace

Stopped registers_of(pid_t pid, lldb::SBThread thread) {
  constexpr const char* kNames[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  lldb::SBFrame frame = thread.GetFrameAtIndex(0);
  Stopped stopped{pid, static_cast<pid_t>(thread.GetThreadID()), {}};
  static_assert(std::size(kNames) == std::tuple_size_v<DwarfRegisters>);
  for (std::size_t i = 0; i < std::size(kNames); ++i) stopped.registers[i] = get(frame, kNames[i]);
  return stopped;
}

std::uint64_t flags_of(lldb::SBThread thread) {
  lldb::SBFrame frame = thread.GetFrameAtIndex(0);
  return get(frame, "rflags");
}

bool set_registers(lldb::SBThread thread, const Registers& registers) {
  lldb::SBFrame frame = thread.GetFrameAtIndex(0);
  return set(frame, "rax", registers.rax) && set(frame, "rsp", registers.rsp) &&
         set(frame, "rip", registers.rip);
}

bool put_back(lldb::SBThread thread, std::uint64_t rip, std::uint64_t rsp, std::uint64_t flags) {
  lldb::SBFrame frame = thread.GetFrameAtIndex(0);
  // SetPC, unlike a value for the register rip, makes LLDB forget its cached call stack.
  return set(frame, "rflags", flags) && set(frame, "rsp", rsp) && frame.SetPC(rip);
}

// Right after an attach LLDB may report an address that is not mapped.
Result<std::uint64_t> allocate(lldb::SBProcess& process, lldb::SBThread thread, std::uint64_t bytes,
                               const std::string& permissions) {
  constexpr int kAttempts = 20;
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  const SignalsToCome signals(pid, static_cast<pid_t>(thread.GetThreadID()));
  let_do_calls(process, thread);
  const std::uint32_t wanted = lldb::ePermissionsReadable |
                               (permissions[1] == 'w' ? lldb::ePermissionsWritable : 0u) |
                               (permissions[2] == 'x' ? lldb::ePermissionsExecutable : 0u);
  for (int i = 0; i < kAttempts; ++i) {
    lldb::SBError error;
    const std::uint64_t address = process.AllocateMemory(bytes, wanted, error);
    if (error.Success() && is_mapped(pid, address, bytes, permissions)) return address;
  }
  return fault("LLDB cannot get memory in process " + std::to_string(pid),
               "see its limits in /proc/" + std::to_string(pid) + "/limits");
}

// Tried before LLDB, which writes in text packets and needs milliseconds.
bool write(lldb::SBProcess& process, std::uint64_t address, const void* from, std::size_t bytes) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (write_memory(pid, address, from, bytes) || write_code(pid, address, from, bytes)) return true;
  lldb::SBError error;
  return process.WriteMemory(address, from, bytes, error) == bytes && error.Success();
}

void repair_interrupted_waits(lldb::SBProcess& process) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  std::vector<lldb::SBThread> threads;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i)
    threads.push_back(process.GetThreadAtIndex(i));
  std::vector<std::optional<long>> calls(threads.size());
  look_at_each(threads.size(), [&](std::size_t i) {
    calls[i] = system_call_of(pid, static_cast<pid_t>(threads[i].GetThreadID()));
  });
  for (std::size_t i = 0; i < threads.size(); ++i) {
    lldb::SBThread& thread = threads[i];
    if (!calls[i] || !is_interrupted_by_stops(*calls[i])) continue;
    const Stopped stopped = registers_of(pid, thread);
    if (const auto again = restart(stopped))
      set_registers(thread, {again->rax, again->rip, stopped.rsp()});
  }
}

bool is_at_loader_breakpoint(lldb::SBThread thread) {
  lldb::SBProcess process = thread.GetProcess();
  const std::uint64_t pc = program_counter_of(static_cast<pid_t>(process.GetProcessID()),
                                              static_cast<pid_t>(thread.GetThreadID()));
  for (lldb::SBBreakpoint& breakpoint : loader_breakpoints(process.GetTarget()))
    if (breakpoint.FindLocationByAddress(pc).IsValid()) return true;
  return false;
}

QuietLoader::QuietLoader(lldb::SBTarget target) {
  for (lldb::SBBreakpoint& breakpoint : loader_breakpoints(target)) {
    if (!breakpoint.IsEnabled()) continue;
    breakpoint.SetEnabled(false);
    disabled_.push_back(breakpoint);
  }
}

QuietLoader::~QuietLoader() {
  for (lldb::SBBreakpoint& breakpoint : disabled_) breakpoint.SetEnabled(true);
}

AsIs::AsIs(lldb::SBDebugger debugger, lldb::SBProcess process)
    : debugger_(debugger),
      process_(process),
      async_(debugger_.GetAsync()),
      thread_(process_.GetSelectedThread().GetThreadID()),
      frame_(process_.GetSelectedThread().GetSelectedFrame().GetFrameID()) {
  debugger_.SetAsync(false);
}

AsIs::~AsIs() {
  if (process_.GetState() == lldb::eStateStopped && process_.SetSelectedThreadByID(thread_))
    process_.GetSelectedThread().SetSelectedFrame(frame_);
  debugger_.SetAsync(async_);
}

}  // namespace gnomon::injector
