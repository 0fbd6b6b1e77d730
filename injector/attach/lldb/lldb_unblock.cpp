// Changes whether threads of a process that LLDB holds block SIGPROF, by code that the threads run
// themselves. LLDB's command thread; the process is stopped.
#include "injector/attach/lldb/lldb_unblock.h"

#include <signal.h>

#include <algorithm>
#include <optional>

#include "injector/attach/gate/mask_gate.h"
#include "injector/attach/lldb/lldb_threads.h"
#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/lldb/lldb_process.h"

namespace gnomon::injector {
namespace {

using std::chrono::milliseconds;

// Each look stops the process, which takes LLDB 20 ms.
constexpr int kMostStops = 4;
constexpr milliseconds kBetween{5}, kUnblockTime{50}, kAlone{1}, kMostAlone{64};
constexpr std::uint64_t kTurns = 1ull << 29;  // about 10 s, in case nobody returns for the thread

// Returns how the thread can be sent from where it stands, or nothing if it must move by itself
// first.
std::optional<Way> way_of(lldb::SBProcess& process, lldb::SBThread thread, MaskPoints& points) {
  const Stopped stopped = registers_of(static_cast<pid_t>(process.GetProcessID()), thread);
  const auto call = restart(stopped);
  const bool has_signal = signal_of(thread) != 0 || has_signal_to_come(stopped.pid, stopped.tid);
  if (call ? has_signal : is_restart_code(stopped.rax())) return std::nullopt;
  if (points.of(stopped, call.has_value()).where != SafePoint::Where::here) return std::nullopt;
  return Way{stopped, call.value_or(Resume{stopped.rax(), stopped.rip()}), call.has_value()};
}

}  // namespace

bool LldbUnblocking::is_asked() const {
  return Clock::now() >= next_ && insertion_.progress() == Insertion::Progress::asks;
}

bool LldbUnblocking::is_due() const { return is_asked() && (looks_ == 0 || has_moved()); }

void LldbUnblocking::give_up_in_time() {
  if (looks_ > 0 && Clock::now() >= limit_ && is_asked() && !has_moved())
    insertion_.answer_unblocked(threads_);
}

// Returns true if a thread may stand elsewhere than at the last look: it runs, or waits in another
// place.
bool LldbUnblocking::has_moved() const {
  const auto pid = static_cast<pid_t>(process_.GetProcessID());
  for (std::size_t i = 0; i < threads_.size() && i < Insertion::kMostMaskGates; ++i) {
    if (threads_[i].reachable != 0) continue;
    const auto place =
        place_of(pid, thread_by_own_number(pid, static_cast<pid_t>(threads_[i].tid)));
    if (!place || place != places_[i]) return true;
  }
  return false;
}

void LldbUnblocking::look() {
  const auto pid = static_cast<pid_t>(process_.GetProcessID());
  if (looks_ == 0) {
    threads_ = insertion_.blocking_threads();
    places_.resize(threads_.size());
    limit_ = Clock::now() + kUnblockTime;
  }
  MaskPoints points(pid, insertion_.mask_change());
  const auto is_there = [](const format::BlockingThread& thread) { return thread.reachable == 0; };
  for (std::size_t i = 0; i < threads_.size() && i < Insertion::kMostMaskGates; ++i) {
    if (!is_there(threads_[i])) continue;
    places_[i] = place_of(pid, thread_by_own_number(pid, static_cast<pid_t>(threads_[i].tid)));
    if (try_one(threads_[i], i, points)) threads_[i].reachable = 1;
  }
  next_ = Clock::now() + kBetween;
  if (++looks_ == kMostStops || Clock::now() >= limit_ ||
      std::none_of(threads_.begin(), threads_.end(), is_there))
    insertion_.answer_unblocked(threads_);
}

bool LldbUnblocking::try_one(const format::BlockingThread& blocking, std::uint64_t index,
                             MaskPoints& points) {
  const auto pid = static_cast<pid_t>(process_.GetProcessID());
  const pid_t tid = thread_by_own_number(pid, static_cast<pid_t>(blocking.tid));
  lldb::SBThread thread = process_.GetThreadByID(static_cast<lldb::tid_t>(tid));
  if (!thread.IsValid()) return true;
  const auto way = way_of(process_, thread, points);
  if (!way) return false;
  const bool comes_back = thread.IsSuspended();
  const MaskChange change = insertion_.mask_change();
  if (change == MaskChange::block && !emulates_mask(pid, blocking)) return true;
  const MaskGate block{
      {}, 0, 1ull << (SIGPROF - 1), comes_back && !way->waits ? kTurns : 0, change};
  const auto [block_at, entry] = insertion_.mask_gate(index);
  const std::vector<char> code = mask_gate_code(block_at, blocking.mask_emulated, way->on.rip);
  if (!write(process_, block_at, &block, sizeof block) ||
      !write(process_, entry, code.data(), code.size()) || !note_change(pid, blocking, change))
    return false;
  if (comes_back ? send_and_return(thread, *way, entry) : send(thread, *way, entry)) return true;
  take_note_back(pid, blocking, change);
  return false;
}

bool LldbUnblocking::send(lldb::SBThread thread, const Way& way, std::uint64_t entry) {
  const Stopped& was = way.stopped;
  sent_.push_back(was.tid);
  if (set_registers(thread, {way.on.rax, entry, was.rsp()})) return true;
  set_registers(thread, {was.rax(), was.rip(), was.rsp()});
  return false;
}

// Sends a suspended thread through and brings it back before anything else runs. A wait returns by
// itself. A thread that is late, because a handler runs on top of it, gets there later.
bool LldbUnblocking::send_and_return(lldb::SBThread thread, const Way& way, std::uint64_t entry) {
  const std::uint64_t flags = flags_of(thread), stay = entry + mask_gate_stay_offset();
  const auto is_there = [&] {
    const std::uint64_t pc = program_counter_of(way.stopped.pid, way.stopped.tid);
    return way.waits ? pc == way.stopped.rip() : pc >= stay && pc < entry + kMaskGateBytes;
  };
  if (!send(thread, way, entry)) return false;
  Kept others;
  others.keep(process_,
              [&](lldb::SBThread other) { return other.GetThreadID() != thread.GetThreadID(); });
  thread.Resume();
  for (milliseconds time = kAlone; time <= kMostAlone && !is_there(); time *= 2)
    if (!run_until(process_, [until = Clock::now() + time] { return Clock::now() > until; }))
      return true;
  thread.Suspend();
  if (!way.waits && is_there() && set_registers(thread, {way.on.rax, stay, way.stopped.rsp()}))
    put_back(thread, way.on.rip, way.stopped.rsp(), flags);
  return true;
}

}  // namespace gnomon::injector
