// Changes from outside whether threads block SIGPROF: it is removed from their masks while they are
// sampled, with the block emulated in the program's view, and added again afterwards. Any thread.
#include "injector/attach/unblock.h"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <thread>

#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/thread/traced_thread.h"

namespace gnomon::injector {
namespace {

constexpr std::chrono::milliseconds kRunOfOne{5};
constexpr int kMostRunsOfOne = 4;  // times that one thread is run to a next place
constexpr std::uint64_t kSigprof = 1ull << (SIGPROF - 1);

// Returns true if the thread waits for SIGPROF itself; with the mask changed a SIGPROF of the
// program's would not reach it.
bool waits_for_sigprof(const Stopped& thread) {
  constexpr std::size_t kRdi = 5;  // System V ABI, AMD64, figure 3.36
  if (system_call_of(thread.pid, thread.tid) != SYS_rt_sigtimedwait) return false;
  const auto set = read_value<std::uint64_t>(thread.pid, thread.registers[kRdi]);
  return !set || *set & kSigprof;
}

std::uint64_t changed(std::uint64_t mask, MaskChange change) {
  return change == MaskChange::block ? mask | kSigprof : mask & ~kSigprof;
}

bool note(pid_t pid, const format::BlockingThread& thread, bool is_emulated) {
  const std::uint32_t word = is_emulated ? 1 : 0;
  return read_value<std::uint32_t>(pid, thread.slot) == thread.tid &&
         write_memory(pid, thread.mask_emulated, &word, sizeof word);
}

// Returns true once the thread's mask is as wanted. A thread that blocks SIGPROF needs no
// emulation.
bool change_mask(const format::BlockingThread& blocking, MaskChange change, MaskPoints& points,
                 TracedThread& thread) {
  const auto mask = thread.mask();
  if (!mask) return false;
  if (change == MaskChange::unblock && !(*mask & kSigprof)) return true;
  SafePoint point = points.of(thread.stopped(), thread.waits());
  for (int i = 0; i < kMostRunsOfOne && point.where == SafePoint::Where::later; ++i) {
    if (!thread.run_to(point.address, kRunOfOne)) return false;
    point = points.of(thread.stopped(), thread.waits());
  }
  const pid_t pid = thread.stopped().pid;
  if (point.where != SafePoint::Where::here || thread.mask() != mask) return false;
  if (change == MaskChange::block && !emulates_mask(pid, blocking)) return true;
  if (!note_change(pid, blocking, change)) return false;
  if (thread.set_mask(changed(*mask, change))) return true;
  take_note_back(pid, blocking, change);
  return false;
}

}  // namespace

SafePoint MaskPoints::of(const Stopped& thread, bool waits) {
  if (change_ == MaskChange::unblock && waits_for_sigprof(thread)) return {};
  if (runs_handler(thread)) return {};
  if (waits && is_plain_wait(thread.pid, thread.tid)) return {SafePoint::Where::here};
  const SafePoint point = points_.of(thread, waits);
  return point.is_in_handler ? SafePoint{} : point;
}

bool emulates_mask(pid_t pid, const format::BlockingThread& thread) {
  return read_value<std::uint32_t>(pid, thread.slot) == thread.tid &&
         read_value<std::uint32_t>(pid, thread.mask_emulated).value_or(0) != 0;
}

bool note_change(pid_t pid, const format::BlockingThread& thread, MaskChange change) {
  return note(pid, thread, change == MaskChange::unblock);
}

void take_note_back(pid_t pid, const format::BlockingThread& thread, MaskChange change) {
  note(pid, thread, change == MaskChange::block);
}

std::chrono::nanoseconds change_masks_by_ptrace(pid_t pid,
                                                std::vector<format::BlockingThread>& threads,
                                                MaskChange change) {
  using std::chrono::milliseconds;
  constexpr milliseconds kFirst{1}, kLongest{64};
  std::chrono::nanoseconds held{};
  MaskPoints points(pid, change);
  const QuickBreakpoints quick;
  bool is_over = false;
  for (milliseconds pause{}; !is_over && pause <= kLongest; pause = std::max(kFirst, 2 * pause)) {
    std::this_thread::sleep_for(pause);
    is_over = true;
    for (format::BlockingThread& blocking : threads) {
      const pid_t tid = thread_by_own_number(pid, static_cast<pid_t>(blocking.tid));
      if (blocking.reachable || tid == 0) continue;
      const char state = state_of(pid, tid);
      is_over = false;
      // A thread in state D cannot be stopped before its wait is over.
      if (state != 'R' && state != 'S') continue;
      auto thread = TracedThread::stop(pid, tid);
      if (!thread) continue;
      blocking.reachable = change_mask(blocking, change, points, *thread) ? 1 : 0;
      held += thread->release();
    }
  }
  return held;
}

}  // namespace gnomon::injector
