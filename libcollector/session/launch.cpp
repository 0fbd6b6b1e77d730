// The recording of a program from its start: begins in the library's constructor and ends behind
// whatever the program does at its end. Normal context.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "libcollector/core/fork_generation.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/alternate_stack.h"
#include "libcollector/program/thread_start.h"
#include "libcollector/record/held_file.h"
#include "libcollector/session/ending.h"
#include "libcollector/session/launch_environment.h"
#include "libcollector/session/session.h"
#include "libcollector/target/confinement.h"
#include "libcollector/target/recording.h"
#include "libcollector/target/thread_stacks.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);  // NOLINT

namespace gnomon::collector {
namespace {

// See kLaunchState.
extern "C" {
__attribute__((visibility("default"))) constinit std::int32_t gnomon_launch_state = 0;
}

constinit bool ends_last = false;  // `finish` is called behind whatever the program does at its end

void begin_main_thread(Thread& thread, char** argv) {
  name_thread(thread, static_cast<std::uint32_t>(gettid()));
  thread.stack = main_stack(reinterpret_cast<std::uint64_t>(argv));
  if (format::is_from_outside(atomic(own_recorder->control()->clock).load())) map_stack_ahead();
  thread.mask_emulated = 0;
  thread.routine = nullptr;
  begin_sampled(thread);
}

void record_launch(const Settings& settings, int argc, char** argv) {
  const Beginning beginning = open_session(settings, argc, argv);
  atomic(gnomon_launch_state).store(beginning.error == 0 ? 1 : -beginning.error);
  if (!beginning.recorder || !arm(Loaded::at_start)) return;
  Thread* main_thread = claim_thread();
  if (!main_thread) return own_recorder->fail(format::Failure::map_file, ENOMEM);
  if (!begin_launched()) return;
  begin_main_thread(*main_thread, argv);
  keep_descriptors_apart(!is_confined());
}

// A library that comes by dlopen gets its settings by a call and does not touch the environment,
// which other threads may be changing.
[[gnu::constructor]] void start(int argc, char** argv, char**) {
  constinit static Settings settings;
  fork_generation();
  end_at_confinement(end_before_confinement);
  find_originals();
  measure_ticks();
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
  if (gettid() != getpid() || !read_launch_environment(settings)) return;
  clean_environment();
  const int saved_errno = errno;
  // The function that is registered first is called last, after the destructors of all libraries.
  ends_last = __cxa_atexit([](void*) { finish(); }, nullptr, nullptr) == 0;
  record_launch(settings, argc, argv);
  errno = saved_errno;
}

[[gnu::destructor]] void finish_as_library() {
  if (!ends_last) finish();
}

}  // namespace
}  // namespace gnomon::collector
