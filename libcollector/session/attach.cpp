// Starts and ends a recording in a process that has run for a while. On a thread that the injector
// made for it, with all signals blocked; other threads run.
#include "libcollector/format/attach.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <time.h>

#include <cstring>

#include "libcollector/attach/attach_tasks.h"
#include "libcollector/clock/ignored_code.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/clock/threads.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/fork_generation.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/hook/binding.h"
#include "libcollector/objects/executable.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/record/log.h"
#include "libcollector/session/ending.h"
#include "libcollector/session/release.h"
#include "libcollector/session/session.h"
#include "libcollector/target/confinement.h"
#include "libcollector/target/recording.h"
#include "libcollector/target/thread_slots.h"
#include "libcollector/target/thread_stacks.h"

namespace gnomon::collector {
namespace {

using format::Attached;
using format::AttachRequest;

constinit Claim serving;            // of the thread that serves a request
constinit std::uint32_t owner = 0;  // fork_generation() of the process whose threads own the slots

// In a fork child the slots belong to the parent's threads, whose timers do not exist here.
void forget_foreign_threads() {
  const std::uint32_t own = fork_generation();
  if (owner != 0 && owner != own)
    visit_threads(
        [](Thread& thread, std::uint64_t) {
          thread.ticking = 0;
          release_thread(thread);
        },
        0);
  owner = own;
  visit_threads([](Thread& thread, std::uint64_t) { forget_if_ended(thread); }, 0);
}

// Binds a second time at the end, because another thread may have been in the middle of binding a
// word to libc.
void follow_program(Recorder& recorder, AttachRequest& request) {
  const HookGroups groups = bit_of(HookGroup::program) | groups_to_trace();
  Bound first, late;
  {
    const HookWork work;
    recorder.drop(format::Drop::own_functions, find_traced_originals(groups_to_trace()));
    first = bind_hooks(groups);
  }
  if (has_clock()) sample_tasks(recorder, request);
  {
    const HookWork work;
    late = bind_hooks(groups);
  }
  request.unbound = late.refused;
  recorder.drop(format::Drop::unbound, request.unbound);
  if (const char* maker = bound_elsewhere("pthread_create")) {
    recorder.drop(format::Drop::foreign_thread_makers);
    std::strncpy(request.thread_maker, maker, sizeof request.thread_maker - 1);
  }
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  write_log(recorder.directory(), *recorder.control(),
            {"bind", at, "slots", first.slots + late.slots});
  write_log(recorder.directory(), *recorder.control(),
            {format::kLogAttach, at, "threads", request.threads});
}

// The loader knows this library as /proc/self/fd/N, a descriptor that has been closed; debuggers
// and the program ask the loader for the path. The loader never frees the text, because the library
// stays loaded.
void correct_path(const AttachRequest& request) {
  static char path[sizeof request.library];
  using FindObject = int (*)(void*, dl_find_object*);
  const auto find =
      reinterpret_cast<FindObject>(dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35"));
  constexpr char kDescriptors[] = "/proc/self/fd/";
  dl_find_object found{};
  if (!find || find(path, &found) != 0 ||
      std::strncmp(found.dlfo_link_map->l_name, kDescriptors, sizeof kDescriptors - 1) != 0)
    return;
  std::memcpy(path, request.library, sizeof path);
  path[sizeof path - 1] = 0;
  atomic(found.dlfo_link_map->l_name).store(path);
}

// Without _dl_find_object a tick could read the unwind tables of code that was unloaded.
bool libc_tells_of_unloading() {
  return dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35") != nullptr;
}

// The injector's path of an experiment that was handed over as a descriptor; empty if both sides
// use the same path.
constinit char handed[sizeof AttachRequest::directory] = {};

Attached report_location(const Recorder& active, AttachRequest& request) {
  std::memcpy(request.directory, handed[0] != 0 ? handed : active.directory().path(),
              sizeof request.directory);
  return Attached::already;
}

Attached attach(AttachRequest& request) {
  static Settings settings;
  if (const Recorder* active = active_recorder()) return report_location(*active, request);
  if (!libc_tells_of_unloading()) return Attached::old_libc;
  if (!has_earlier_ended()) return Attached::still_ending;
  settings = {};
  settings.session = request.session;
  request.settings[sizeof request.settings - 1] = 0;
  settings.values = format::settings_in(request.settings);
  request.stem[sizeof request.stem - 1] = 0;
  std::memcpy(settings.stem, request.stem, sizeof settings.stem);
  settings.handed = request.directory_fd;
  settings.seen_pid = request.seen_pid;
  std::memcpy(settings.seen_namespace, request.seen_namespace, sizeof settings.seen_namespace);
  handed[0] = 0;
  if (settings.handed >= 0) std::memcpy(handed, request.directory, sizeof handed);
  executable_path(settings.executable, sizeof settings.executable);
  forget_foreign_threads();
  note_borrowed({request.borrowed_begin, request.borrowed_end});
  ignored_code = {request.code_begin, request.code_end};
  note_mappings();
  note_open_tasks();
  const auto [recorder, error] = begin_attached(settings);
  request.error = error;
  if (!recorder) return Attached::no_directory;
  if (settings.handed < 0)
    std::memcpy(request.directory, recorder->directory().path(), sizeof request.directory);
  if (recorder->recording()) {
    follow_program(*recorder, request);
    return Attached::recording;
  }
  request.failure = recorder->control()->failure;
  request.error = recorder->control()->failure_errno;
  recorder->directory().give_back();
  return Attached::failed;
}

Attached release(AttachRequest& request) {
  if (const Recorder* active = active_recorder();
      active && active->control()->session != request.session)
    return report_location(*active, request);
  forget_foreign_threads();
  return give_process_back(request);
}

// Returns false if the answer means that no experiment was begun, so that the handed directory was
// not taken over.
bool has_taken_directory(Attached answer) {
  return answer == Attached::recording || answer == Attached::failed ||
         answer == Attached::no_directory;
}

Attached handle_attach(AttachRequest& request) {
  correct_path(request);
  const Attached answer = attach(request);
  if (request.directory_fd >= 0 && !has_taken_directory(answer))
    raw_syscall(SYS_close, long{request.directory_fd});
  return answer;
}

// Serves one request at a time. A child that was forked meanwhile serves its own.
Attached dispatch(AttachRequest& request, Attached (*what)(AttachRequest&)) {
  if (request.bytes != sizeof request || request.version != format::kAttachVersion)
    return Attached::other_version;
  if (!serving.take()) return Attached::already;
  keep_descriptors_apart(false);  // a filter may have come since
  keep_descriptors_apart(!is_confined());
  const Attached answer = what(request);
  serving.give_back();
  return answer;
}

int answer(AttachRequest& request, Attached (*what)(AttachRequest&)) {
  request.answer = static_cast<std::uint32_t>(dispatch(request, what));
  return static_cast<int>(request.answer);
}

}  // namespace

// Both return and store the answer.
extern "C" {
// See kLeftRoom. An injector reads and writes it.
__attribute__((visibility("default"))) constinit format::LeftRoom gnomon_left_room = {};

__attribute__((visibility("default"))) int gnomon_attach(AttachRequest* request) {
  return answer(*request, handle_attach);
}

__attribute__((visibility("default"))) int gnomon_release(AttachRequest* request) {
  return answer(*request, release);
}
}

}  // namespace gnomon::collector
