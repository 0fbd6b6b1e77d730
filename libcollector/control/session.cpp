// The session of this process: begins in the library's constructor, ends in its destructor.
#include "libcollector/control/session.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/alternate_stack.h"
#include "libcollector/control/confinement.h"
#include "libcollector/control/exec.h"
#include "libcollector/control/header.h"
#include "libcollector/control/interpose.h"
#include "libcollector/control/module_map.h"
#include "libcollector/control/settings.h"
#include "libcollector/control/signal_masks.h"
#include "libcollector/control/signals.h"
#include "libcollector/control/system_calls.h"
#include "libcollector/control/unloading.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

constinit Recorder* recorder = nullptr;  // memory that a fork child sees zeroed
constinit Unwinder unwinder;
constinit pthread_key_t thread_key = 0;
constinit Settings settings;
constinit std::uint64_t cpu_at_begin = 0;  // of the process, ns: its loading is not in the samples
constinit char directory[Recorder::kPathBytes] = {};

// stem.N.er with the first free N; mkdir decides, so two programs never share one.
bool make_directory() {
  const std::size_t stem = std::strlen(settings.stem);
  if (stem + 16 >= sizeof directory) return false;
  std::memcpy(directory, settings.stem, stem);
  for (unsigned n = 1; n < 1'000'000; ++n) {
    char digits[8];
    std::size_t count = 0;
    for (unsigned rest = n; rest > 0; rest /= 10)
      digits[count++] = static_cast<char>('0' + rest % 10);
    char* at = directory + stem;
    *at++ = '.';
    while (count > 0) *at++ = digits[--count];
    std::memcpy(at, ".er", 4);
    if (mkdir(directory, 0755) == 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

void on_thread_end(void* slot) {
  auto& thread = *static_cast<Thread*>(slot);
  if (current_thread != &thread) return;
  stop_clock(thread);
  current_thread = nullptr;
  release_thread(thread);
}

// What does not hold even a header is no experiment: nothing of it is left behind.
void remove_directory(const Recorder& begun) {
  char path[Recorder::kPathBytes];
  for (const char* name : {format::kControlFile, format::kHeaderFile, format::kNewHeaderFile})
    if (begun.path_of(name, path)) unlink(path);
  rmdir(directory);
}

Recorder* open_recorder() {
  void* memory =
      mmap(nullptr, sizeof(Recorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    rmdir(directory);
    return nullptr;
  }
  auto* fresh = static_cast<Recorder*>(memory);
  if (madvise(memory, sizeof(Recorder), MADV_WIPEONFORK) == 0 &&
      fresh->open(directory, settings.session, static_cast<std::uint32_t>(getpid())).at)
    return fresh;
  remove_directory(*fresh);
  munmap(memory, sizeof(Recorder));
  return nullptr;
}

bool open_storage() {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const Range opened = recorder->open_storage(static_cast<std::uint32_t>(cpus < 2    ? 4
                                                                         : cpus > 64 ? 128
                                                                                     : 2 * cpus));
  if (!opened.at) recorder->fail(opened.failure, opened.error);
  return opened.at;
}

// The interval in which the kernel maps nothing but the stack below its top is at least the stack's
// size limit (mmap_base leaves 128 MiB or more).
ByteRange main_stack(const void* above_all_frames) {
  constexpr std::uint64_t kGap = 128ull << 20;
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  const auto high = reinterpret_cast<std::uint64_t>(above_all_frames);
  return {high - std::min<std::uint64_t>(limit.rlim_cur, kGap), high};
}

// A debugger that does not answer costs the program some time, never its recording.
void hold() {
  if (settings.hold_ns == 0) return;
  const std::uint64_t armed = now(CLOCK_MONOTONIC);
  const bool asked = recorder->await_debugger(settings.hold_ns);
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  write_log(*recorder, {asked ? "begin" : "begin unasked", at, "held", at - armed});
}

void note_fresh_frame(std::uint64_t pc, Recorder& to, Lane& lane) {
  if (note_load_object(pc, to, lane)) unwinder.forget();
}

void start_recording(char** argv, Timer timer, char* scratch, std::size_t scratch_bytes) {
  if (!open_storage()) return;
  Thread* main_thread = claim_thread();
  if (!write_load_objects(*recorder, scratch, scratch_bytes))
    return recorder->fail(format::Failure::open_file, errno);
  if (!main_thread || pthread_key_create(&thread_key, on_thread_end) != 0 ||
      !unwinder.open(find_frame_table, program_roots()))
    return recorder->fail(format::Failure::no_clock, errno);
  prepare_clock(*recorder, unwinder, settings.interval_ns, timer, note_fresh_frame);
  if (!take_sigprof(collector_sigprof)) return recorder->fail(format::Failure::no_clock, errno);
  hold();
  cpu_at_begin = now(CLOCK_PROCESS_CPUTIME_ID);
  recorder->begin(now(CLOCK_MONOTONIC));
  main_thread->tid = static_cast<std::uint32_t>(gettid());
  main_thread->stack = main_stack(argv);
  main_thread->masked = 0;
  begin_thread(*main_thread);
}

[[gnu::constructor]] void start(int argc, char** argv, char**) {
  find_signal_functions();
  find_mask_functions();
  find_stack_functions();
  find_exec_functions();
  find_system_call_functions();
  find_unload_functions();
  if (!read_settings(settings)) return;
  clean_environment();
  const int saved_errno = errno;
  if (make_directory()) {
    static char scratch[64 * 1024];
    recorder = open_recorder();
    const Timer timer = choose_timer(settings.interval_ns, is_confined());
    if (recorder && write_header(*recorder, settings, timer, argc, argv, scratch, sizeof scratch))
      start_recording(argv, timer, scratch, sizeof scratch);
    else if (recorder) {
      remove_directory(*recorder);
      recorder = nullptr;
    }
  }
  errno = saved_errno;
}

void end_recording() {
  recorder->end(now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID) - cpu_at_begin);
  write_log(*recorder, {"end", now(CLOCK_MONOTONIC)});
}

[[gnu::destructor]] void finish() {
  if (!recorder || !recorder->control()) return;  // no experiment, or a fork child
  if (recorder->control()->end_time != 0) return;
  if (Thread* thread = current_thread) on_thread_end(thread);
  if (recorder->recording() && !has_sigprof(collector_sigprof))
    recorder->drop(format::Drop::handler_displaced);
  end_recording();
}

}  // namespace

Recorder* active_recorder() { return recorder && recorder->recording() ? recorder : nullptr; }

void forget_unloaded() {
  if (Recorder* active = active_recorder(); active && note_unloaded(*active)) unwinder.forget();
}

void end_before_confinement() {
  if (!active_recorder() || raw_syscall(SYS_getpid) != long{recorder->control()->pid}) return;
  recorder->fail(format::Failure::confined, 0);
  stop_all_clocks();
  discard_sigprof();
  await_all_handlers();
  end_recording();
}

void begin_thread(Thread& thread) {
  current_thread = &thread;
  adopt_mask();
  pthread_setspecific(thread_key, &thread);
  if (start_clock(thread)) {
    std::atomic_ref(recorder->control()->threads).fetch_add(1, std::memory_order_relaxed);
    return;
  }
  recorder->drop(format::Drop::thread_clocks);
}

}  // namespace gnomon::collector
