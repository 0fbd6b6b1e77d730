// Recording begins in a process that has run for a while. On a thread made for it by the injector,
// with all signals blocked; other threads run.
#include "libcollector/format/attach.h"

#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "libcollector/clock/passed_over.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/attach_tasks.h"
#include "libcollector/control/binding.h"
#include "libcollector/control/handler_masks.h"
#include "libcollector/control/header.h"
#include "libcollector/control/session.h"
#include "libcollector/control/stacks.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/threads.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

using format::Attached;
using format::AttachRequest;

constinit std::atomic<bool> busy = false;
constinit std::uint32_t owner = 0;  // the process whose threads the slots belong to

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

// A thread may just have been about to bind a word of its own to libc: once more at the end.
void follow_program(Recorder& recorder, AttachRequest& request) {
  const Bound first = bind_hooks();
  sample_tasks(recorder, request);
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
  passed_over = {request.code_begin, request.code_end};
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
