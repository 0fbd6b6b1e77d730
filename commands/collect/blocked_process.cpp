// `gnomon blocked -P PID`: what each thread of a running process waits for, without a debugger. The
// program's only thread.
#include "commands/collect/blocked_process.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "commands/host/blocked.h"
#include "commands/host/words.h"
#include "commands/print/shell_host.h"
#include "injector/attach/remote/live_wait.h"
#include "injector/attach/remote/remote_process.h"
#include "reader/base/one_line.h"
#include "reader/symbols/display_name.h"

namespace gnomon::commands {
namespace {

using format::WaitKind;

std::string name_of(pid_t pid, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", pid, thread));
  std::string name;
  std::getline(file, name);
  return one_line(name);
}

class LiveProcess {
 public:
  explicit LiveProcess(pid_t pid) : pid_(pid), stacks_(pid, injector::RemoteStacks::Names::read) {
    const std::string main = name_of(pid, pid);
    for (const pid_t thread : injector::threads_of(pid)) {
      const std::string name = name_of(pid, thread);
      names_[static_cast<std::uint32_t>(thread)] = name == main ? "" : name;
    }
  }

  Blocked all() {
    Blocked blocked;
    blocked.is_numbered = false;
    blocked.threads = names_.size();
    for (const auto& [thread, name] : names_)
      if (auto waiting = waiting_of(static_cast<pid_t>(thread)))
        blocked.waiting.push_back(std::move(*waiting));
    return blocked;
  }

 private:
  struct InCode {
    std::uint32_t kind = 0;
    std::string_view rust_kind;
    std::string called, place;
  };

  // A caller's frame is where its call is.
  InCode look_at(const injector::CallStack& stack) const {
    InCode found;
    for (const injector::Frame& frame : stack.frames) {
      const injector::Named named = stacks_.name_of(frame.pc - (frame.is_interrupted ? 0 : 1));
      const std::string object = named.object.substr(named.object.rfind('/') + 1);
      const std::string function = !named.symbol.empty()
                                       ? reader::display_name(named.symbol.c_str())
                                   : object.empty() ? fmt::format("{:#x}", frame.pc)
                                                    : fmt::format("{:#x} in {}", frame.pc, object);
      found.place = function;
      if (named.line != 0)
        found.place +=
            fmt::format(" at {}:{}", named.file.substr(named.file.rfind('/') + 1), named.line);
      if (!is_of_runtime(function, object)) return found;
      if (found.kind == 0) found.kind = wait_kind_of(function);
      if (found.rust_kind.empty()) found.rust_kind = rust_wait_of(function);
      if (!object.starts_with("libcollector")) found.called = function;
    }
    return found;
  }

  std::optional<Waiting> waiting_of(pid_t thread) {
    const auto wait = injector::live_wait_of(pid_, thread, stacks_);
    if (!wait) return std::nullopt;
    const InCode code = look_at(wait->stack);
    Waiting waiting;
    waiting.index = waiting.thread = static_cast<std::uint32_t>(thread);
    waiting.name = names_[waiting.thread];
    waiting.place = code.place;
    if (wait->call != SYS_futex && !(wait->call == SYS_restart_syscall && code.kind != 0)) {
      waiting.what = code.called.empty() ? fmt::format("system call {}", wait->call)
                                         : called_name(code.called);
      return waiting;
    }
    const std::uint32_t kind =
        code.kind != 0 ? code.kind : static_cast<std::uint32_t>(WaitKind::futex);
    const std::uint64_t object = base_of_lock(kind, wait->argument);
    if (code.kind == 0 && !code.rust_kind.empty()) {
      waiting.what = fmt::format("{} at {:#x}", code.rust_kind, object);
      waiting.has_no_owner = true;
      return waiting;
    }
    waiting.is_end = kind == static_cast<std::uint32_t>(WaitKind::join);
    if (const auto place = place_of_holder(kind, object, wait->argument))
      waiting.holder = injector::read_value<std::uint32_t>(pid_, *place).value_or(0);
    if (const auto holder = names_.find(waiting.holder); holder != names_.end()) {
      waiting.holder_index = holder->first;
      waiting.holder_name = holder->second;
    }
    waiting.what = waiting.is_end ? "the end of a thread" : named(kind, object);
    return waiting;
  }

  std::string named(std::uint32_t kind, std::uint64_t object) const {
    const injector::Named found = stacks_.name_of(object);
    if (found.symbol.empty()) return fmt::format("{} at {:#x}", wait_kind_name(kind), object);
    const std::string behind = found.offset == 0 ? "" : fmt::format("+{}", found.offset);
    return fmt::format("{} {}{}", wait_kind_name(kind), reader::display_name(found.symbol.c_str()),
                       behind);
  }

  pid_t pid_;
  injector::RemoteStacks stacks_;
  std::map<std::uint32_t, std::string> names_;  // by thread; empty: the program's
};

class ProcessHost : public ShellHost {
 public:
  explicit ProcessHost(pid_t pid) : pid_(pid) {}
  Result<Blocked> blocked() override {
    if (injector::threads_of(pid_).empty())
      return fault(fmt::format("there is no process {}", pid_), "`ps` lists them");
    if (!injector::may_look_at_waits(pid_))
      return fault(fmt::format("the kernel does not tell what process {} waits for", pid_),
                   "be root, or its user where `sysctl kernel.yama.ptrace_scope` is 0");
    return LiveProcess(pid_).all();
  }

 private:
  pid_t pid_;
};

}  // namespace

Result<Answer> blocked_process(std::span<const std::string> words) {
  std::vector<std::string> rest;
  std::optional<std::uint64_t> pid;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "-P") {
      rest.push_back(words[i]);
      continue;
    }
    pid = i + 1 < words.size() ? whole_number(words[++i]) : std::nullopt;
    if (!pid || *pid == 0 || *pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()))
      return fault("-P needs the number of a process", "`ps` lists them");
  }
  if (!pid)
    return fault("no process is named",
                 "type `gnomon blocked -P PID`; in LLDB `collector blocked`");
  ProcessHost host(static_cast<pid_t>(*pid));
  const auto command = find_command("blocked");
  if (!command) return tl::unexpected(command.error());
  return execute(host, **command, rest);
}

}  // namespace gnomon::commands
