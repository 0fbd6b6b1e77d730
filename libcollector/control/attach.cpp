// Recording begins in a process that has run for a while. On a thread made for it by the injector,
// with all signals blocked; other threads run.
#include "libcollector/format/attach.h"

#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/binding.h"
#include "libcollector/control/handler_masks.h"
#include "libcollector/control/header.h"
#include "libcollector/control/session.h"
#include "libcollector/control/stacks.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/proc_status.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/tasks.h"
#include "libcollector/core/threads.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

using format::Attached;
using format::AttachRequest;

constinit std::atomic<bool> busy = false;
constinit std::uint32_t owner = 0;  // the process whose threads the slots belong to

struct Round {
  Recorder* recorder;
  AttachRequest* request;
  ByteRange main;  // its stack
  std::uint32_t own, pid;
  std::uint32_t fresh;                  // threads met for the first time
  std::uint64_t handlers_on_alternate;  // signals
  std::uint32_t in_handlers;
};

// In a fork child the slots are those of the parent's threads, whose timers are not here.
void forget_foreign_threads(std::uint32_t pid) {
  if (owner != 0 && owner != pid)
    visit_threads(
        [](Thread& thread, std::uint64_t) {
          thread.ticking = 0;
          release_thread(thread);
        },
        0);
  owner = pid;
  visit_threads(
      [](Thread& thread, std::uint64_t process) {
        if (thread.tid == 0 ||
            raw_syscall(SYS_tgkill, static_cast<long>(process), long{thread.tid}, 0) == 0)
          return;
        stop_clock(thread);
        release_thread(thread);
      },
      pid);
}

// No tick may come to it, or not now: a handler that has run since before the collector came may
// have no room for one on its alternate stack, and blocks its signal.
bool is_out_of_reach(std::uint32_t tid, Round& round) {
  static ProcStatus status;
  const std::uint64_t blocked = status.read(tid) ? status.blocked() : 0;
  if (blocked & round.handlers_on_alternate) ++round.in_handlers;
  return blocked & (round.handlers_on_alternate | signal_bit(SIGPROF));
}

Thread* slot_of(std::uint32_t tid, const Round& round) {
  Thread* thread = claim_thread();
  if (!thread) return nullptr;
  thread->masked = 0;
  thread->ticking = 0;
  thread->stack = tid == round.pid ? round.main : ByteRange{};
  thread->tid = tid;
  atomic(thread->adopting).store(1);
  return thread;
}

void sample_task(std::uint32_t tid, void* data) {
  auto& round = *static_cast<Round*>(data);
  if (tid == round.own) return;
  Thread* thread = find_thread(tid);
  if (thread && thread->ticking) return;
  if (!thread && tid != round.request->in_handler && is_out_of_reach(tid, round)) {
    ++round.request->blocking;
    return;
  }
  ++round.fresh;
  if (!thread) thread = slot_of(tid, round);
  if (!thread) {
    round.recorder->drop(format::Drop::threads_full);
    ++round.request->refused;
  } else if (start_clock(*thread)) {
    std::atomic_ref(round.recorder->control()->threads).fetch_add(1, std::memory_order_relaxed);
    ++round.request->threads;
  } else if (raw_syscall(SYS_tgkill, long{round.pid}, long{tid}, 0) == 0) {
    round.recorder->drop(format::Drop::thread_clocks);
    ++round.request->refused;
  }
}

// Threads may be made meanwhile, and libc blocks all signals for a moment in posix_spawn and its
// like: again until there is no new one, and none that blocks SIGPROF or it has done so for long.
// One that is in a handler is given longer.
void sample_all_tasks(Recorder& recorder, AttachRequest& request) {
  constexpr int kRounds = 40, kMoreRounds = 400;
  constexpr timespec kMoment{0, 500'000};
  Round round{&recorder,
              &request,
              main_stack(),
              static_cast<std::uint32_t>(gettid()),
              static_cast<std::uint32_t>(getpid()),
              1,
              handlers_on_alternate_stacks(),
              0};
  for (int i = 0; i < (round.in_handlers != 0 ? kMoreRounds : kRounds) &&
                  (round.fresh != 0 || request.blocking != 0);
       ++i) {
    if (round.fresh == 0) raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&kMoment));
    round.fresh = round.in_handlers = 0;
    request.blocking = 0;
    visit_tasks(sample_task, &round);
  }
  for (std::uint32_t i = 0; i < request.blocking; ++i)
    recorder.drop(format::Drop::blocking_threads);
}

// A thread may just have been about to bind a word of its own to libc: once more at the end.
void follow_program(Recorder& recorder, AttachRequest& request) {
  const Bound first = bind_hooks();
  sample_all_tasks(recorder, request);
  const Bound late = bind_hooks();
  request.unbound = late.refused;
  for (std::uint32_t i = 0; i < request.unbound; ++i) recorder.drop(format::Drop::unbound);
  if (const char* maker = bound_elsewhere("pthread_create")) {
    recorder.drop(format::Drop::foreign_thread_makers);
    std::strncpy(request.thread_maker, maker, sizeof request.thread_maker - 1);
  }
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  write_log(recorder, {"bind", at, "slots", first.slots + late.slots});
  write_log(recorder, {"attach", at, "threads", request.threads});
}

// Without it nobody tells a tick that code was unloaded, whose tables it would read.
bool libc_tells_of_unloading() {
  return dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35") != nullptr;
}

Attached attach(AttachRequest& request) {
  static Settings settings;
  if (const Recorder* active = active_recorder()) {
    std::memcpy(request.directory, active->directory(), sizeof request.directory);
    return Attached::already;
  }
  if (!libc_tells_of_unloading()) return Attached::old_libc;
  settings = {};
  settings.session = request.session;
  settings.interval_ns = request.interval;
  request.stem[sizeof request.stem - 1] = 0;
  std::memcpy(settings.stem, request.stem, sizeof settings.stem);
  const ssize_t n = readlink("/proc/self/exe", settings.executable, sizeof settings.executable - 1);
  settings.executable[n > 0 ? n : 0] = 0;
  forget_foreign_threads(static_cast<std::uint32_t>(getpid()));
  note_borrowed({request.borrowed_begin, request.borrowed_end});
  note_mappings();
  const auto [recorder, error] = begin_attached(settings);
  request.error = error;
  if (!recorder) return Attached::no_directory;
  std::memcpy(request.directory, recorder->directory(), sizeof request.directory);
  if (recorder->recording()) {
    follow_program(*recorder, request);
    return Attached::recording;
  }
  request.failure = recorder->control()->failure;
  request.error = recorder->control()->failure_errno;
  return Attached::failed;
}

}  // namespace

// Returns and stores the answer.
extern "C" __attribute__((visibility("default"))) int gnomon_attach(AttachRequest* request) {
  if (request->bytes != sizeof *request || request->version != format::kAttachVersion) {
    request->answer = static_cast<std::uint32_t>(Attached::other_version);
  } else if (busy.exchange(true)) {
    request->answer = static_cast<std::uint32_t>(Attached::already);
  } else {
    request->answer = static_cast<std::uint32_t>(attach(*request));
    busy = false;
  }
  return static_cast<int>(request->answer);
}

}  // namespace gnomon::collector
