// The session of this process: begins in the library's constructor or when the process is attached
// to, ends in its destructor. Normal context.
#include "libcollector/session/session.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "libcollector/attach/thread_stacks.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/machine_time.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/stack_switch.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/hook/binding.h"
#include "libcollector/hook/hook.h"
#include "libcollector/objects/module_map.h"
#include "libcollector/program/alternate_stack.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/sigaction.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/program/thread_start.h"
#include "libcollector/record/experiment.h"
#include "libcollector/record/header.h"
#include "libcollector/record/held_file.h"
#include "libcollector/record/log.h"
#include "libcollector/record/mailbox.h"
#include "libcollector/record/overview.h"
#include "libcollector/session/command_line.h"
#include "libcollector/session/confinement.h"
#include "libcollector/session/control_signals.h"
#include "libcollector/session/launch_environment.h"
#include "libcollector/session/own_clock.h"
#include "libcollector/session/threads.h"
#include "libcollector/session/unsealed.h"
#include "libcollector/trace/trace.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object);  // NOLINT

namespace gnomon::collector {
namespace {

using format::Setting;

constinit Recorder* recorder = nullptr;  // memory that a fork child sees zeroed
constinit Unwinder unwinder;
constinit bool prepared = false;  // what all sessions of the process share has been made
constinit std::atomic<pid_t> ending =
    0;  // pid of the process in which a thread is ending the session; 0: none
constinit Settings settings;
constinit std::uint64_t cpu_at_begin = 0;  // CPU time of the process before the recording, ns
constinit char scratch[64 * 1024] = {};    // room for one line of the header or of the map

// Two writers for each CPU, because a thread may be preempted while it has one.
bool open_storage() {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const auto writers = static_cast<std::uint32_t>(cpus < 2 ? 4 : cpus > 64 ? 128 : 2 * cpus);
  const Range opened = recorder->open_storage(writers);
  if (!opened.at) recorder->fail(opened.failure, opened.error);
  return opened.at;
}

bool has_own_clock() {
  const auto clock = static_cast<format::Clock>(atomic(recorder->control()->clock).load());
  if (format::may_be_kernels(settings.values)) return clock == format::Clock::signal;
  return settings.values[Setting::profile] != 0;
}

// A process that writes no events itself opens its few files for each use: no descriptor stays.
void hold_files() {
  using format::DataKind;
  DataKind kinds[4];
  std::size_t count = 0;
  if (has_own_clock()) kinds[count++] = DataKind::profile;
  if (settings.values[Setting::heaptrace] != 0) kinds[count++] = DataKind::heaptrace;
  if (settings.values[Setting::synctrace] != 0) kinds[count++] = DataKind::synctrace;
  if (settings.values[Setting::iotrace] != 0) kinds[count++] = DataKind::iotrace;
  if (count != 0) recorder->hold_files({kinds, count});
}

// If the debugger does not answer in time, recording begins without its answer.
void hold() {
  const std::uint64_t limit = settings.values[Setting::hold];
  if (limit == 0) return;
  const std::uint64_t armed = now(CLOCK_MONOTONIC);
  const bool asked = recorder->await_debugger(limit);
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  write_log(recorder->directory(), *recorder->control(),
            {asked ? "begin" : "begin unasked", at, "held", at - armed});
}

void note_fresh_frame(std::uint64_t pc, Recorder& to, Writer& writer) {
  if (note_load_object(pc, to, writer)) unwinder.forget();
}

void take_sample(format::SampleEvent event) {
  if (!sample_own_process(recorder->directory(), *recorder->control(), event))
    recorder->drop(format::Drop::samples);
}

void end_recording() {
  // At the end that somebody asks for, gnomon-sampler takes the last sample.
  if (!recorder->end_requested()) take_sample(format::SampleEvent::end);
  recorder->stop();
  const bool written = write_out_traced(*recorder);
  recorder->end(now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID) - cpu_at_begin, written);
  write_log(recorder->directory(), *recorder->control(), {"end", now(CLOCK_MONOTONIC)});
  if (recorder->is_free())
    recorder->directory().give_back();
  else
    keep_unsealed(*recorder);
}

// Runs once a session. Ticks that come meanwhile find nothing to do.
void end_as_asked(void*) {
  stop_all_clocks();
  end_recording();
}

pid_t own_process() { return static_cast<pid_t>(raw_syscall(SYS_getpid)); }

bool is_ending() { return ending == own_process(); }

// Returns true if the calling thread may end the recording: only one thread at a time may. A pid
// from before a fork does not count, because that thread does not exist in the child.
bool claim_end() {
  pid_t other = ending;
  const pid_t own = own_process();
  return other != own && ending.compare_exchange_strong(other, own);
}

// Called in a signal handler, whose stack may be small. Who ends the recording waits for threads
// that are in a traced call, so a handler that has interrupted one leaves it to another thread.
void end_if_asked() {
  alignas(16) static char stack[32 * 1024];
  if (!recorder->end_requested() || is_in_traced_call() || !claim_end()) return;
  if (recorder->end_requested()) call_on_stack(stack + sizeof stack, end_as_asked, nullptr);
  ending = 0;
}

bool prepare_process() {
  if (prepared) return true;
  if (!prepare_threads() || !unwinder.open(find_frame_table, program_roots())) return false;
  return prepared = true;
}

OwnClock own_clock(Timer timer) {
  return {*recorder, unwinder, settings.values, note_fresh_frame, end_if_asked, timer};
}

// For gnomon-sampler, which walks the stacks of this process.
void publish_roots() { as_roots(recorder->control()->roots) = program_roots(); }

// Prepares everything but the clocks of threads; if gnomon-sampler may take the clock over, also
// but what its own would need. On failure returns false and stores the reason in the control page.
bool arm(Timer timer, Loaded loaded) {
  if (!open_storage()) return false;
  hold_files();
  if (const FileError error = write_load_objects(*recorder, loaded, scratch, sizeof scratch)) {
    recorder->fail(error.failure, error.error);
    return false;
  }
  if (!prepare_process()) {
    recorder->fail(format::Failure::no_clock, errno);
    return false;
  }
  publish_roots();
  unwinder.forget();
  follow_threads(*recorder, note_fresh_frame, format::may_be_kernels(settings.values));
  if (families_to_trace() != 0) {
    prepare_to_end(is_confined());
    begin_tracing(*recorder, unwinder, settings.values, note_fresh_frame);
  }
  return arm_clock(own_clock(timer), loaded);
}

// What is bound leads to hooks that record nothing until the recording begins.
void bind_traced_calls() {
  if (families_to_trace() == 0) return;
  recorder->drop(format::Drop::own_functions, find_traced_originals(families_to_trace()));
  const Bound bound = bind_hooks(families_to_trace());
  recorder->drop(format::Drop::unbound, bound.refused);
}

void begin_paused(format::PauseReason reason) {
  pause(*recorder->control(), reason);
  write_log(recorder->directory(), *recorder->control(), {format::kLogPause, now(CLOCK_MONOTONIC)});
}

// A recording that is not to begin with events is paused before the first.
void begin_recording() {
  take_sample(format::SampleEvent::start);
  take_control_signals(*recorder, settings.values);
  if (settings.values[Setting::paused] != 0)
    begin_paused(format::PauseReason::asked);
  else if (settings.values[Setting::delay] != 0)
    begin_paused(format::PauseReason::delay);
  cpu_at_begin = now(CLOCK_PROCESS_CPUTIME_ID);
  recorder->begin(now(CLOCK_MONOTONIC));
}

// Ends a session that was asked to end but has had no tick since, or waits for the tick that is
// ending it; half a second at most.
void end_earlier() {
  constexpr std::uint64_t kPatience = 500'000'000;  // ns
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  while (recorder && (recorder->end_requested() || is_ending()) && now(CLOCK_MONOTONIC) < limit) {
    end_if_asked();
    raw_syscall(SYS_sched_yield);
  }
}

// Returns 0, or errno with nothing left behind.
int open_session(int argc, char** argv, Timer timer) {
  int error = 0;
  const auto pid = static_cast<std::uint32_t>(getpid());
  recorder = open_experiment(settings, pid, error);
  if (!recorder) return error;
  const FileError unwritten =
      write_header(*recorder, settings, {"/proc/self", pid, argc, argv, timer_name(timer), nullptr},
                   scratch, sizeof scratch);
  if (!unwritten) return 0;
  // Whoever launched the program may have mapped the control page by now.
  recorder->fail(unwritten.failure, unwritten.error);
  recorder->end(now(CLOCK_MONOTONIC), 0);
  remove_experiment(*recorder);
  recorder->directory().give_back();
  recorder = nullptr;
  return unwritten.error != 0 ? unwritten.error : EIO;
}

// See kLaunchState.
extern "C" {
__attribute__((visibility("default"))) constinit std::int32_t gnomon_launch_state = 0;
}

void record_launch(int argc, char** argv) {
  adopt_machine_time();
  const Timer timer = choose_timer(settings.values[Setting::profile], is_confined());
  const int error = open_session(argc, argv, timer);
  atomic(gnomon_launch_state).store(error == 0 ? 1 : -error);
  if (error != 0 || !arm(timer, Loaded::at_start)) return;
  Thread* main_thread = claim_thread();
  if (!main_thread) return recorder->fail(format::Failure::map_file, ENOMEM);
  bind_traced_calls();
  hold();
  if (!arm_clock_after_hold(own_clock(timer))) return;
  hold_files();
  begin_recording();
  name_thread(*main_thread, static_cast<std::uint32_t>(gettid()));
  main_thread->stack = main_stack(reinterpret_cast<std::uint64_t>(argv));
  if (format::is_from_outside(atomic(recorder->control()->clock).load())) map_stack_ahead();
  main_thread->mask_emulated = 0;
  main_thread->routine = nullptr;
  begin_thread(*main_thread);
  keep_descriptors_apart(!is_confined());
}

void finish();
constinit bool ends_last = false;  // `finish` is called behind whatever the program does at its end

// A library that comes by dlopen gets its settings by a call and does not touch the environment,
// which other threads may be changing.
[[gnu::constructor]] void start(int argc, char** argv, char**) {
  find_originals();
  measure_ticks();
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
  if (gettid() != getpid() || !read_launch_environment(settings)) return;
  clean_environment();
  const int saved_errno = errno;
  // What is registered first is called last, after the destructors of all libraries.
  ends_last = __cxa_atexit([](void*) { finish(); }, nullptr, nullptr) == 0;
  record_launch(argc, argv);
  errno = saved_errno;
}

// Returns false if another thread has been ending the recording for 0.3 s, perhaps held by a
// debugger.
bool claim_last_end() {
  constexpr timespec kMoment{0, 1'000'000};
  for (int looks = 0; looks < 300; ++looks) {
    if (claim_end()) return true;
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
  }
  return false;
}

void finish_claimed() {
  if (Thread* thread = current_thread) end_thread(*thread);
  if (recorder->recording() && has_clock() && !has_sigprof(collector_sigprof))
    recorder->drop(format::Drop::handler_displaced);
  end_recording();
}

void finish() {
  if (!recorder || !recorder->control()) return;  // no experiment, or a fork child
  if (recorder->control()->end_time != 0) return;
  leave_traced_call();  // exit() by a signal handler
  if (!claim_last_end()) return;
  if (recorder->control()->end_time == 0) finish_claimed();
  ending = 0;
}

[[gnu::destructor]] void finish_as_library() {
  if (!ends_last) finish();
}

// No tick comes afterwards.
void end_for_good() {
  stop_all_clocks();
  discard_sigprof();
  await_all_handlers();
  end_recording();
}

}  // namespace

Families families_to_trace() {
  Families families = 0;
  if (settings.values[Setting::heaptrace] != 0) families |= bit_of(Family::heap);
  const bool tells_waits = settings.values[Setting::waits] != 0;
  const bool traces_io = settings.values[Setting::iotrace] != 0;
  if (settings.values[Setting::synctrace] != 0 || tells_waits) families |= bit_of(Family::sync);
  if (tells_waits) families |= bit_of(Family::pauses);
  if (traces_io || tells_waits) families |= bit_of(traces_io ? Family::io : Family::calls);
  return families;
}

Recorder* active_recorder() { return recorder && recorder->recording() ? recorder : nullptr; }

format::ControlPage* own_control() {
  if (!active_recorder()) return nullptr;
  format::ControlPage* control = recorder->control();
  return raw_syscall(SYS_getpid) == long{control->pid} ? control : nullptr;
}

void forget_unloaded() {
  if (Recorder* active = active_recorder(); active && note_unloaded(*active)) unwinder.forget();
}

void sample_before_exec() {
  sample_own_process(recorder->directory(), *recorder->control(), format::SampleEvent::exec);
}

// A recording that has failed has not ended yet: its clocks and its threads may still ask the
// kernel.
void end_before_confinement() {
  keep_descriptors_apart(false);
  if (!recorder || !recorder->control()) return;
  const bool has_ended = recorder->control()->end_time != 0;
  if (has_ended && !has_unsealed()) return;
  if (own_process() != static_cast<pid_t>(recorder->control()->pid)) return;
  if (!has_ended) {
    recorder->fail(format::Failure::confined, 0);
    end_for_good();
  }
  leave_unsealed();
}

bool has_earlier_ended() {
  end_earlier();
  if (!claim_end()) return false;
  seal_earlier();
  ending = 0;
  return true;
}

bool end_session() {
  if (!recorder || !recorder->control()) return true;
  atomic(recorder->control()->asked).store(static_cast<std::uint32_t>(format::Ask::end));
  return has_earlier_ended() && recorder->control()->end_time != 0;
}

Beginning begin_attached(const Settings& wanted) {
  adopt_machine_time();
  settings = wanted;
  const CommandLine command = command_line();
  const Timer timer = choose_timer(settings.values[Setting::profile], is_confined());
  if (const int error = open_session(command.count, command.words, timer); error != 0)
    return {nullptr, error};
  keep_ticks_off_alternate_stacks();  // their sizes are not known
  if (arm(timer, Loaded::at_any_time))
    begin_recording();
  else
    recorder->end(now(CLOCK_MONOTONIC), 0);
  return {recorder, 0};
}

}  // namespace gnomon::collector
