// What the threads of a stopped process wait for, as LLDB and the kernel tell. LLDB's command
// thread.
#include <fmt/format.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>

#include "commands/stop/blocked.h"
#include "plugin/process.h"
#include "plugin/session.h"
#include "reader/base/clock.h"

namespace gnomon::plugin {
namespace {

using format::WaitKind;

constexpr long kFutex = 202, kRestart = 219;  // numbers of system calls on x86-64

// The system call that a thread is in. number: -1, none.
struct KernelCall {
  long number = -1;
  std::uint64_t first = 0;  // its first argument
};

KernelCall kernel_call_of(pid_t pid, lldb::tid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, tid));
  KernelCall call;
  std::string first;
  if (file >> call.number && call.number >= 0 && file >> first)
    call.first = std::strtoull(first.c_str(), nullptr, 16);
  return call;
}

// Of the C and C++ libraries and ours: not what the program's author calls his own.
bool is_of_runtime(lldb::SBFrame frame) {
  constexpr std::array kObjects{"libc.so", "libc-2",   "libpthread",   "libstdc++",
                                "libc++",  "ld-linux", "libcollector", "[vdso]"};
  const char* const object = frame.GetModule().GetFileSpec().GetFilename();
  for (const std::string_view each : kObjects)
    if (object && std::string_view(object).starts_with(each)) return true;
  const char* const name = frame.GetDisplayFunctionName();
  const std::string_view function = name ? name : "";
  return function.starts_with("std::") || function.starts_with("__gthread") ||
         function.starts_with("core::") || function.starts_with("void std::");
}

struct InCode {
  std::uint32_t kind = 0;  // format::WaitKind; 0: for no thread
  std::string called;      // the function that the program called
  std::string place;       // where
};

InCode look_at(lldb::SBThread thread) {
  constexpr std::uint32_t kMost = 64;
  InCode found;
  for (std::uint32_t i = 0; i < kMost; ++i) {
    lldb::SBFrame frame = thread.GetFrameAtIndex(i);
    if (!frame.IsValid()) break;
    const char* const name = frame.GetDisplayFunctionName();
    const std::string function = name ? name : fmt::format("{:#x}", frame.GetPC());
    const lldb::SBLineEntry line = frame.GetLineEntry();
    found.place = function;
    if (line.IsValid() && line.GetLine() != 0)
      found.place += fmt::format(" at {}:{}", line.GetFileSpec().GetFilename(), line.GetLine());
    if (!is_of_runtime(frame)) break;
    if (found.kind == 0) found.kind = commands::wait_kind_of(function);
    const char* const object = frame.GetModule().GetFileSpec().GetFilename();
    if (!object || !std::string_view(object).starts_with("libcollector")) found.called = function;
  }
  return found;
}

class Gathering {
 public:
  Gathering(lldb::SBProcess process, std::uint64_t place_of_waits) : process_(process) {
    for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i) {
      lldb::SBThread thread = process_.GetThreadAtIndex(i);
      indexes_[static_cast<std::uint32_t>(thread.GetThreadID())] = thread.GetIndexID();
    }
    read_waits(place_of_waits);
  }

  commands::Blocked all() {
    commands::Blocked blocked;
    blocked.threads = process_.GetNumThreads();
    for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i)
      if (auto waiting = waiting_of(process_.GetThreadAtIndex(i)))
        blocked.waiting.push_back(std::move(*waiting));
    return blocked;
  }

 private:
  template <typename T>
  bool read(std::uint64_t address, T& value) {
    lldb::SBError error;
    return process_.ReadMemory(address, &value, sizeof value, error) == sizeof value;
  }

  // What the collector has noted of threads that it sees waiting.
  void read_waits(std::uint64_t place) {
    constexpr int kMost = 100'000;
    std::uint64_t at = 0;
    if (place == 0 || !read(place, at)) return;
    for (int i = 0; i < kMost && at != 0; ++i) {
      format::ThreadWait wait{};
      if (!read(at, wait)) return;
      if (wait.since != 0) waits_[wait.thread] = wait;
      at = wait.next;
    }
  }

  std::optional<commands::Waiting> waiting_of(lldb::SBThread thread) {
    const auto tid = static_cast<std::uint32_t>(thread.GetThreadID());
    const KernelCall call = kernel_call_of(number_of(process_), tid);
    const InCode code = look_at(thread);
    const auto noted = waits_.find(tid);
    const bool spins = code.kind == static_cast<std::uint32_t>(WaitKind::spin_lock);
    if (call.number < 0 && !spins) return std::nullopt;
    commands::Waiting waiting;
    waiting.index = thread.GetIndexID();
    waiting.thread = tid;
    waiting.place = code.place;
    // A wait with a time limit that a stop interrupts goes on by restart_syscall.
    const bool is_lock = call.number == kFutex || (call.number == kRestart && code.kind != 0);
    if (!is_lock && !spins) {
      waiting.what = code.called.empty() ? fmt::format("system call {}", call.number)
                                         : commands::called_name(code.called);
      return waiting;
    }
    std::uint32_t kind = code.kind != 0 ? code.kind : static_cast<std::uint32_t>(WaitKind::futex);
    std::uint64_t object = spins ? 0 : commands::base_of_lock(kind, call.first);
    if (noted != waits_.end() && (code.kind == 0 || code.kind == noted->second.kind)) {
      kind = noted->second.kind;
      if (kind != static_cast<std::uint32_t>(WaitKind::join)) object = noted->second.object;
      waiting.since = Nanoseconds{monotonic_now() - noted->second.since};
    }
    waiting.holder = holder_of(kind, object, call.first);
    if (const auto holder = indexes_.find(waiting.holder); holder != indexes_.end())
      waiting.holder_index = holder->second;
    waiting.is_end = kind == static_cast<std::uint32_t>(WaitKind::join);
    waiting.what = name_of(kind, object, waiting);
    return waiting;
  }

  std::uint32_t holder_of(std::uint32_t kind, std::uint64_t object, std::uint64_t word) {
    constexpr std::uint64_t kOwner = 8, kWriter = 24;  // __owner, __cur_writer
    std::uint64_t place = 0;
    switch (static_cast<WaitKind>(kind)) {
      case WaitKind::mutex:
        place = object + kOwner;
        break;
      case WaitKind::read_lock:
      case WaitKind::write_lock:
        place = object + kWriter;
        break;
      case WaitKind::join:
        place = word;
        break;
      default:
        return 0;
    }
    std::uint32_t thread = 0;
    return read(place, thread) ? thread : 0;
  }

  std::string name_of(std::uint32_t kind, std::uint64_t object, const commands::Waiting& waiting) {
    const std::string kind_name = commands::wait_kind_name(kind);
    if (waiting.is_end)
      return waiting.holder_index != 0 ? fmt::format("the end of thread #{}", waiting.holder_index)
                                       : "the end of a thread";
    if (object == 0) return kind_name;
    lldb::SBAddress address = process_.GetTarget().ResolveLoadAddress(object);
    lldb::SBSymbol symbol = address.GetSymbol();
    if (!symbol.IsValid() || !symbol.GetDisplayName())
      return fmt::format("{} at {:#x}", kind_name, object);
    const std::uint64_t begin = symbol.GetStartAddress().GetLoadAddress(process_.GetTarget());
    return object == begin
               ? fmt::format("{} {}", kind_name, symbol.GetDisplayName())
               : fmt::format("{} {}+{}", kind_name, symbol.GetDisplayName(), object - begin);
  }

  lldb::SBProcess process_;
  std::unordered_map<std::uint32_t, std::uint32_t> indexes_;  // by thread
  std::unordered_map<std::uint32_t, format::ThreadWait> waits_;
};

}  // namespace

Result<commands::Blocked> Session::blocked() {
  lldb::SBProcess process = debugger_.GetSelectedTarget().GetProcess();
  if (process.GetState() != lldb::eStateStopped)
    return fault("no process is stopped here", "`process interrupt` stops it");
  if (!is_alive(process))
    return fault("only a process of this machine can be asked what its threads wait for",
                 "`thread backtrace all` shows where they are");
  const auto found = recording_of(process);
  return Gathering(process, found ? found->page->waits : 0).all();
}

}  // namespace gnomon::plugin
