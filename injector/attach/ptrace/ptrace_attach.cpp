// Brings the collector into a running process that no debugger holds, by ptrace(2). Called and
// finished on one thread.
#include "injector/attach/ptrace/ptrace_attach.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "injector/attach/checks/confinement.h"
#include "injector/attach/checks/left_breakpoints.h"
#include "injector/attach/checks/process_checks.h"
#include "injector/attach/checks/rights.h"
#include "injector/attach/patience.h"
#include "injector/attach/ptrace/ptrace_choice.h"
#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/remote_symbols.h"
#include "injector/attach/remote/waiting.h"
#include "injector/attach/thread/traced_thread.h"
#include "injector/attach/unblock.h"
#include "injector/base/recording.h"
#include "injector/base/sampler.h"
#include "injector/files/preflight.h"

namespace gnomon::injector {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Returns the true reason of a failure: after an exec, what was found may mix two programs, or stem
// from the end of the first one's threads.
Fault actual_fault(pid_t pid, const std::string& program, const Fault& found) {
  constexpr int kLooks = 50;
  for (int i = 0; i < kLooks; ++i, std::this_thread::sleep_for(milliseconds(1))) {
    const std::string now = program_identity(pid);
    if (!now.empty() && now != program) return another_program();
    if (state_of(pid, pid) == '\0') return {"it has ended meanwhile", ""};
  }
  const auto may = check_rights(pid);
  return may ? found : may.error();
}

struct Room {
  std::uint64_t gate = 0, code = 0;
};

bool is_error(std::uint64_t result) { return result > ~4095ull; }

Result<std::uint64_t> map(TracedThread& thread, std::uint64_t at, std::uint64_t bytes, int access) {
  const auto mapped = thread.call(
      at, SYS_mmap,
      {0, bytes, static_cast<std::uint64_t>(access), MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0});
  if (!mapped) return fault("a thread of it ended meanwhile", "repeat");
  if (!is_error(*mapped)) return *mapped;
  return fault(
      "it cannot get memory (" + std::string(std::strerror(static_cast<int>(-*mapped))) + ")",
      "see its limits in /proc/" + std::to_string(thread.stopped().pid) + "/limits");
}

void unmap(TracedThread& thread, std::uint64_t at, const Room& room) {
  if (room.gate != 0) thread.call(at, SYS_munmap, {room.gate, kGateBytes});
  if (room.code != 0) thread.call(at, SYS_munmap, {room.code, kCodeBytes});
}

// Sends the thread into the gate. Returns nothing if the moment was wrong; the thread is then where
// it was.
std::optional<Result<Room>> borrow(TracedThread& thread, std::uint64_t at, Insertion& insertion) {
  Room room;
  const auto give_up = [&](const Fault& why) -> Result<Room> {
    unmap(thread, at, room);
    return tl::unexpected(why);
  };
  const auto gate = map(thread, at, kGateBytes, PROT_READ | PROT_WRITE);
  if (!gate) return give_up(gate.error());
  room.gate = *gate;
  const auto code = map(thread, at, kCodeBytes, PROT_READ | PROT_EXEC);
  if (!code) return give_up(code.error());
  room.code = *code;
  const auto mask = thread.mask();
  if (!mask) return give_up({"a thread of it ended meanwhile", "repeat"});
  insertion.place(room.gate, room.code, thread.stopped(), thread.resume(), false);
  insertion.comes_masked(*mask);
  if (!thread.write(room.gate, &insertion.gate(), offsetof(Gate, extended)) ||
      !thread.write(room.code, insertion.code().data(), insertion.code().size()))
    return give_up({"its memory cannot be written", ""});
  // A handler that ran inside the gate would not interrupt the wait outside of it.
  if (thread.waits() && has_signal_to_come(thread.stopped().pid, thread.tid()))
    return unmap(thread, at, room), std::nullopt;
  // No handler runs in the gate, which it could not leave by an exception, as cancellation does.
  if (!thread.send(insertion.entry(), insertion.stack_top())) return std::nullopt;
  thread.set_mask(~0ull);
  return room;
}

struct Sent {
  pid_t thread;
  Room room;
};
// `held` grows by how long threads were stopped.
Result<Sent> send_one(pid_t pid, const std::string& program, std::uint64_t at, Insertion& insertion,
                      nanoseconds& held) {
  constexpr int kAttempts = 50;
  for (int i = 0; i < kAttempts; ++i) {
    auto chosen = choose_by_ptrace(pid);
    if (!chosen) return tl::unexpected(chosen.error());
    TracedThread& thread = chosen->thread;
    // Otherwise the addresses known would be those of another program's libc.
    if (program_identity(pid) != program) return tl::unexpected(another_program());
    const auto room = borrow(thread, at, insertion);
    held += chosen->held + thread.release();
    if (room && !*room) return tl::unexpected(room->error());
    if (room) return Sent{thread.tid(), **room};
  }
  return fault("signals keep coming for its threads", "repeat, or start it from the debugger");
}

enum class Outcome { done, late, lost };
// `held` grows by how long threads were stopped.
Outcome wait_for(pid_t pid, pid_t borrowed, Insertion& insertion, nanoseconds& held) {
  constexpr std::chrono::microseconds kPause{100};
  for (Patience patience(pid); !patience.is_over([&] { return insertion.helper_or(borrowed); });) {
    if (!insertion.is_there()) return Outcome::lost;
    insertion.hand_over();
    const auto progress = insertion.progress();
    if (progress == Insertion::Progress::done) return Outcome::done;
    if (progress == Insertion::Progress::asks) {
      auto threads = insertion.blocking_threads();
      held += change_masks_by_ptrace(pid, threads, insertion.mask_change());
      insertion.answer_unblocked(threads);
    }
    std::this_thread::sleep_for(kPause);
  }
  return Outcome::late;
}

// Unmaps the gate once no thread is in it, or gives up after two seconds: where many threads run on
// few CPUs, the helper thread takes a while to end. Returns for how long a thread was stopped.
nanoseconds give_back(pid_t pid, pid_t borrowed, std::uint64_t at, const Room& room) {
  constexpr milliseconds kPatience{2000}, kPause{1}, kLongPause{10};
  const auto begin = Clock::now();
  nanoseconds held{};
  for (auto at_now = begin; at_now - begin < kPatience; at_now = Clock::now()) {
    if (at_now != begin)
      std::this_thread::sleep_for(at_now - begin < kPatience / 10 ? kPause : kLongPause);
    const auto helper = read_value<std::uint64_t>(pid, room.gate + GATE_HELPER_TID);
    const auto error = read_value<std::uint64_t>(pid, room.gate + GATE_CREATED);
    if (!helper || !error) return held;
    if (*error == 0 &&
        (*helper == 0 || thread_by_own_number(pid, static_cast<pid_t>(*helper)) != 0))
      continue;
    const char state = state_of(pid, borrowed);
    const std::vector<pid_t> threads = threads_of(pid);
    if (threads.empty()) return held;
    // A thread in state D cannot be stopped before its wait is over.
    if (state != 'R' && state != 'S' && state != '\0') continue;
    auto thread = TracedThread::stop(pid, state == '\0' ? threads.front() : borrowed);
    if (!thread) continue;
    const bool is_out = (state == '\0' || !comes_to(pid, borrowed, room.code, kCodeBytes)) &&
                        !thread->is_delicate();
    if (is_out) unmap(*thread, at, room);
    held += thread->release();
    if (is_out) return held;
  }
  return held;
}

// A process that was just started has not loaded its libraries yet; a static one, which never will,
// is known by its file.
void wait_for_libraries(pid_t pid) {
  constexpr milliseconds kPatience{1000}, kPause{2};
  const std::string executable = "/proc/" + std::to_string(pid) + "/exe";
  for (const auto limit = Clock::now() + kPatience;
       Clock::now() < limit && !find_loader_functions(pid) && check_kind(executable);)
    std::this_thread::sleep_for(kPause);
}

Result<Insertion> prepare(pid_t pid, const Settings& settings) {
  if (const auto left = breakpoints_on_the_way(pid); !left.empty())
    return tl::unexpected(left_breakpoint(pid, left.front()));
  return Insertion::prepare(pid, settings);
}

// is_under_way becomes true once a thread of the process does what was brought into it.
Result<AttachResult> insert(pid_t pid, const std::string& program, Insertion& insertion,
                            bool& is_under_way) {
  const std::uint64_t at = find_system_call_instruction(pid);
  if (at == 0)
    return fault("its libc has no syscall()", "start the program from the debugger instead");
  const auto read = check_filters_by_ptrace(pid, insertion.hands());
  if (!read) return tl::unexpected(read.error());
  nanoseconds held = *read;
  const auto sent = send_one(pid, program, at, insertion, held);
  if (!sent) return tl::unexpected(sent.error());
  is_under_way = true;
  switch (wait_for(pid, sent->thread, insertion, held)) {
    case Outcome::lost:
      return tl::unexpected(insertion.loss());
    case Outcome::late:
      return fault("it is still " + insertion.step(), insertion.outlook());
    case Outcome::done:
      break;
  }
  auto result = insertion.result();
  held += give_back(pid, sent->thread, at, sent->room);
  if (result) {
    result->held_ms = std::chrono::duration<double, std::milli>(held).count();
    result->others_ran = true;
  }
  return result;
}

Result<AttachResult> insert_if_can(pid_t pid, const std::string& program,
                                   Result<Insertion> insertion, bool& is_under_way) {
  auto result = insertion ? insert(pid, program, *insertion, is_under_way)
                          : Result<AttachResult>(tl::unexpected(insertion.error()));
  if (!result) return tl::unexpected(actual_fault(pid, program, result.error()));
  return result;
}

}  // namespace

Result<AttachResult> attach_by_ptrace(pid_t pid, const Settings& wanted) {
  if (auto may = check_rights(pid); !may) return tl::unexpected(may.error());
  Settings settings = wanted;
  const ClockChoice choice = choose_clock(settings, pid);
  const std::string program = program_identity(pid);
  wait_for_libraries(pid);
  bool is_under_way = false;
  auto result = insert_if_can(pid, program, prepare(pid, settings), is_under_way);
  if (!result && !is_program(pid, program))
    return tl::unexpected(with_left_behind(result.error(), settings, pid));
  if (!result && !is_under_way) return or_from_outside(wanted, pid, result.error());
  if (result) {
    follow_attached(settings, pid, choice, *result);
  }
  return result;
}

Result<AttachResult> release_by_ptrace(pid_t pid, std::uint64_t session) {
  if (!has_collector(pid)) return AttachResult{};
  if (auto may = check_rights(pid); !may) return tl::unexpected(may.error());
  const std::string program = program_identity(pid);
  bool is_under_way = false;
  return insert_if_can(pid, program, Insertion::prepare_release(pid, session), is_under_way);
}

}  // namespace gnomon::injector
