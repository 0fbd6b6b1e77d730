// Gives a process back everything that the collector has changed in it. Normal context.
#include "libcollector/session/release.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "libcollector/attach/attach_tasks.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/kernel_threads.h"
#include "libcollector/core/syscall.h"
#include "libcollector/hook/binding.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/profil.h"
#include "libcollector/program/sigaction.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/session/control_signals.h"
#include "libcollector/session/ending.h"
#include "libcollector/session/unsealed.h"
#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {
namespace {

using format::Attached;
using format::AttachRequest;

bool is_alive(const Thread& thread) {
  return raw_syscall(SYS_tgkill, long{getpid()}, long{thread.tid}, 0) == 0;
}

// Returns true if no thread has a clock, or a tick under way that could start one.
bool are_clocks_still() {
  bool still = true;
  visit_threads(
      [](Thread& thread, std::uint64_t word) {
        if (atomic(thread.ticking).load() != 0 || atomic(thread.in_handler).load() != 0)
          *reinterpret_cast<bool*>(word) = false;
      },
      reinterpret_cast<std::uint64_t>(&still));
  return still;
}

// Applies the emulated mask of the calling thread, if that is one of the program's.
void apply_own_emulated_mask() {
  Thread* own = current_thread;
  if (!own || own->mask_emulated == 0) return;
  apply_emulated_mask(*own);
  own->mask_emulated = 0;
}

// Lists the threads that block SIGPROF only in the program's view. Returns their number.
std::uint32_t list_emulated(AttachRequest& request) {
  struct List {
    AttachRequest& request;
    std::uint32_t count;
  } list{request, 0};
  request.listed = 0;
  visit_threads(
      [](Thread& thread, std::uint64_t word) {
        auto& [to, count] = *reinterpret_cast<List*>(word);
        if (atomic(thread.mask_emulated).load() == 0 || thread.tid == 0 || !is_alive(thread))
          return;
        ++count;
        if (to.listed < format::kBlockingThreads)
          to.list[to.listed++] = {reinterpret_cast<std::uint64_t>(&thread.tid),
                                  reinterpret_cast<std::uint64_t>(&thread.mask_emulated),
                                  thread.tid, 0};
      },
      reinterpret_cast<std::uint64_t>(&list));
  return list.count;
}

bool is_held(std::uint32_t tid, const void* data) {
  const auto& request = *static_cast<const AttachRequest*>(data);
  const std::size_t count = std::min<std::size_t>(request.held_count, format::kHeldThreads);
  const std::uint32_t* end = request.held + count;
  return std::find(request.held, end, tid) != end;
}

// A thread that blocks SIGPROF may have a tick pending, which a handler of the program's would get
// once it unblocks the signal. The clocks send to threads, most others to the process.
void discard_pending_ticks() {
  const Pending pending = pending_sigprof();
  if (!pending.at_thread) return;
  discard_sigprof();
  if (pending.at_process) raw_syscall(SYS_kill, long{getpid()}, SIGPROF);
}

// A debugger that has been shown a tick delivers it later, whatever the signal's action is by then.
bool are_ticks_handed_on(const void* data) {
  constexpr std::uint64_t kPatience = 500'000'000;  // ns
  return static_cast<const AttachRequest*>(data)->debugged == 0 ||
         await_handed_signals(is_held, data, kPatience);
}

}  // namespace

Attached give_process_back(AttachRequest& request) {
  const bool ended = end_session();
  const Kept kept = kept_back();
  request.kept_threads = kept.threads;
  request.kept_events = kept.events;
  stop_all_clocks();
  if (!ended || !are_clocks_still()) return Attached::still_holds_clocks;
  allow_mask_emulation(false);
  apply_own_emulated_mask();
  if (list_emulated(request) != 0) ask_for_masks(request);
  forget_tasks();  // which threads' masks are really their own must be determined again
  if (request.blocking = list_emulated(request); request.blocking != 0) {
    allow_mask_emulation(true);
    return Attached::still_holds_masks;
  }
  if (program_catches_sigprof()) discard_pending_ticks();
  const bool had_profil = stop_profil();
  const bool given_back = give_sigprof_back(collector_sigprof, are_ticks_handed_on, &request);
  if (had_profil) restart_profil();
  if (!given_back) {
    allow_mask_emulation(true);
    return Attached::still_holds_signal;
  }
  give_control_signals_back();
  restore_handler_masks();
  const HookWork work;
  request.unbound = unbind_hooks(kAllHooks).refused;
  return Attached::released;
}

}  // namespace gnomon::collector
