// How a recording of this process begins, step by step. Normal context.
#include "libcollector/session/session.h"

#include <unistd.h>

#include <cerrno>

#include "libcollector/clock/threads.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/machine_time.h"
#include "libcollector/core/time.h"
#include "libcollector/hook/binding.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/thread_start.h"
#include "libcollector/record/experiment.h"
#include "libcollector/record/header.h"
#include "libcollector/record/log.h"
#include "libcollector/record/mailbox.h"
#include "libcollector/session/command_line.h"
#include "libcollector/session/control_signals.h"
#include "libcollector/session/ending.h"
#include "libcollector/session/own_clock.h"
#include "libcollector/target/code.h"
#include "libcollector/target/confinement.h"
#include "libcollector/target/recording.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

using format::Setting;

constinit bool prepared = false;  // what all recordings of the process share has been made
constinit Settings settings;
constinit Timer timer = Timer::cpu_timer;
constinit char scratch[64 * 1024] = {};  // room for one line of the header or of the map

// Two writers for each CPU, because a thread may be preempted while it has one.
bool open_storage() {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const auto writers = static_cast<std::uint32_t>(cpus < 2 ? 4 : cpus > 64 ? 128 : 2 * cpus);
  const Range opened = own_recorder->open_storage(writers);
  if (!opened.at) own_recorder->fail(opened.failure, opened.error);
  return opened.at;
}

bool has_own_clock() {
  const auto clock = static_cast<format::Clock>(atomic(own_recorder->control()->clock).load());
  if (format::may_be_kernels(settings.values)) return clock == format::Clock::signal;
  return settings.values[Setting::profile] != 0;
}

// A process that writes no events itself opens its few files for each use: no descriptor stays.
void hold_files() {
  format::DataKind kinds[format::kDataKinds];
  std::size_t count = 0;
  if (has_own_clock()) kinds[count++] = format::DataKind::profile;
  for (const format::TracerRow& tracer : format::kTracers)
    if (tracer.file && format::is_on(tracer, settings.values)) kinds[count++] = *tracer.file;
  if (count != 0) own_recorder->hold_files({kinds, count});
}

// If the debugger does not answer in time, recording begins without its answer.
void hold() {
  const std::uint64_t limit = settings.values[Setting::hold];
  if (limit == 0) return;
  const std::uint64_t armed = now(CLOCK_MONOTONIC);
  const bool asked = own_recorder->await_debugger(limit);
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  write_log(own_recorder->directory(), *own_recorder->control(),
            {asked ? "begin" : "begin unasked", at, "held", at - armed});
}

bool prepare_process() {
  if (prepared) return true;
  if (!prepare_threads() || !own_unwinder.open(find_frame_table, program_roots())) return false;
  return prepared = true;
}

OwnClock own_clock() { return {settings.values, end_if_asked, timer}; }

// For gnomon-sampler, which walks the stacks of this process.
void publish_roots() { as_roots(own_recorder->control()->roots) = program_roots(); }

// What is bound leads to hooks that record nothing until the recording begins.
void bind_traced_calls() {
  if (groups_to_trace() == 0) return;
  const HookWork work;
  own_recorder->drop(format::Drop::own_functions, find_traced_originals(groups_to_trace()));
  const Bound bound = bind_hooks(groups_to_trace());
  own_recorder->drop(format::Drop::unbound, bound.refused);
}

void begin_paused(format::PauseReason reason) {
  pause(*own_recorder->control(), reason);
  write_log(own_recorder->directory(), *own_recorder->control(),
            {format::kLogPause, now(CLOCK_MONOTONIC)});
}

// A recording that is not to begin with events is paused before the first.
void begin_recording() {
  take_sample(*own_recorder, format::SampleEvent::start);
  take_control_signals(settings.values);
  if (settings.values[Setting::paused] != 0)
    begin_paused(format::PauseReason::asked);
  else if (settings.values[Setting::delay] != 0)
    begin_paused(format::PauseReason::delay);
  cpu_before_recording = now(CLOCK_PROCESS_CPUTIME_ID);
  own_recorder->begin(now(CLOCK_MONOTONIC));
}

}  // namespace

HookGroups groups_to_trace() { return format::hooks_of(settings.values); }

Beginning open_session(const Settings& wanted, int argc, char** argv) {
  adopt_machine_time();
  settings = wanted;
  timer = choose_timer(settings.values[Setting::profile], is_confined());
  int error = 0;
  const auto pid = static_cast<std::uint32_t>(getpid());
  Recorder* const fresh = open_experiment(settings, pid, error);
  if (!fresh) return {nullptr, error};
  const FileError unwritten =
      write_header(*fresh, settings, {"/proc/self", pid, argc, argv, timer_name(timer), nullptr},
                   scratch, sizeof scratch);
  if (!unwritten) {
    own_recorder = fresh;
    return {fresh, 0};
  }
  // Whoever launched the program may have mapped the control page by now.
  fresh->fail(unwritten.failure, unwritten.error);
  fresh->end(now(CLOCK_MONOTONIC), 0);
  remove_experiment(*fresh);
  fresh->directory().give_back();
  return {nullptr, unwritten.error != 0 ? unwritten.error : EIO};
}

bool arm(Loaded loaded) {
  if (!open_storage()) return false;
  hold_files();
  if (const FileError error = write_load_objects(*own_recorder, loaded, scratch, sizeof scratch)) {
    own_recorder->fail(error.failure, error.error);
    return false;
  }
  if (!prepare_process()) {
    own_recorder->fail(format::Failure::no_clock, errno);
    return false;
  }
  publish_roots();
  own_unwinder.forget();
  if (format::may_be_kernels(settings.values)) tell_ends_of_threads();
  if (groups_to_trace() != 0) {
    prepare_to_end(is_confined());
    begin_tracing(*own_recorder, settings.values);
  }
  return arm_clock(own_clock(), loaded);
}

bool begin_launched() {
  bind_traced_calls();
  hold();
  if (!arm_clock_after_hold(own_clock())) return false;
  hold_files();
  begin_recording();
  return true;
}

Beginning begin_attached(const Settings& wanted) {
  const CommandLine command = command_line();
  const Beginning beginning = open_session(wanted, command.count, command.words);
  if (!beginning.recorder) return beginning;
  keep_ticks_off_alternate_stacks();  // their sizes are not known
  if (arm(Loaded::at_any_time))
    begin_recording();
  else
    own_recorder->end(now(CLOCK_MONOTONIC), 0);
  return beginning;
}

}  // namespace gnomon::collector
