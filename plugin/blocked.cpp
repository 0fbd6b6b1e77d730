// What the threads of a stopped process wait for, as LLDB and the kernel tell. LLDB's command
// thread.
#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>

#include "commands/host/blocked.h"
#include "plugin/process.h"
#include "plugin/session.h"
#include "reader/base/clock.h"
#include "reader/base/one_line.h"

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

struct InCode {
  std::uint32_t kind = 0;      // format::WaitKind; 0: for no thread
  std::string_view rust_kind;  // of an object of Rust's library; empty: of none
  std::string called;          // the function that the program called
  std::string place;           // where
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
    const char* const file = frame.GetModule().GetFileSpec().GetFilename();
    const std::string_view object = file ? file : "";
    if (!commands::is_of_runtime(function, object)) break;
    if (found.kind == 0) found.kind = commands::wait_kind_of(function);
    if (found.rust_kind.empty()) found.rust_kind = commands::rust_wait_of(function);
    if (!object.starts_with("libcollector")) found.called = function;
  }
  return found;
}

class Gathering {
 public:
  // now: when the process has stopped; CLOCK_MONOTONIC, ns.
  Gathering(lldb::SBProcess process, std::uint64_t place_of_waits, std::uint64_t now)
      : process_(process), now_(now) {
    const auto main = name_of(process_.GetThreadByID(process_.GetProcessID()));
    for (std::uint32_t i = 0; i < process_.GetNumThreads(); ++i) {
      lldb::SBThread thread = process_.GetThreadAtIndex(i);
      const std::string name = name_of(thread);
      known_[static_cast<std::uint32_t>(thread.GetThreadID())] = {thread.GetIndexID(),
                                                                  name == main ? "" : name};
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
  static std::string name_of(lldb::SBThread thread) {
    const char* const name = thread.IsValid() ? thread.GetName() : nullptr;
    return name ? one_line(name) : "";
  }

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
    waiting.name = known_[tid].name;
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
      waiting.since = Nanoseconds{now_ - std::min(now_, noted->second.since)};
    }
    if (!code.rust_kind.empty() && code.kind == 0) {
      waiting.what = fmt::format("{} at {:#x}", code.rust_kind, object);
      waiting.has_no_owner = true;
      return waiting;
    }
    waiting.holder = holder_of(kind, object, call.first);
    if (const auto holder = known_.find(waiting.holder); holder != known_.end()) {
      waiting.holder_index = holder->second.index;
      waiting.holder_name = holder->second.name;
    }
    waiting.is_end = kind == static_cast<std::uint32_t>(WaitKind::join);
    waiting.what = name_of(kind, object, waiting);
    return waiting;
  }

  std::uint32_t holder_of(std::uint32_t kind, std::uint64_t object, std::uint64_t word) {
    const auto place = commands::place_of_holder(kind, object, word);
    std::uint32_t thread = 0;
    return place && read(*place, thread) ? thread : 0;
  }

  std::string name_of(std::uint32_t kind, std::uint64_t object, const commands::Waiting& waiting) {
    std::string kind_name = commands::wait_kind_name(kind);
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

  struct Known {
    std::uint32_t index;
    std::string name;  // empty: the program's
  };

  lldb::SBProcess process_;
  std::uint64_t now_;
  std::unordered_map<std::uint32_t, Known> known_;  // by thread
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
  const std::uint64_t stopped = stops_.time_of(process);
  return Gathering(process, found ? found->page->waits : 0, stopped ? stopped : monotonic_now())
      .all();
}

}  // namespace gnomon::plugin
