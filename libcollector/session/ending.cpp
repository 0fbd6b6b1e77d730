// The end of this process's recording. The context stands at each function.
#include "libcollector/session/ending.h"

#include "libcollector/clock/thread_clock.h"
#include "libcollector/clock/threads.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/fork_generation.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/stack_switch.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/program/sigaction.h"
#include "libcollector/record/log.h"
#include "libcollector/session/unsealed.h"
#include "libcollector/target/recording.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

constinit Claim ending;  // of the thread that is ending the recording

bool has_ended() { return own_recorder->control()->end_time != 0; }

void end_recording() {
  Recorder& of = *own_recorder;
  // At the end that somebody asks for, gnomon-sampler takes the last sample.
  if (!of.end_requested()) take_sample(of, format::SampleEvent::end);
  of.stop();
  const bool written = write_out_traced(of);
  of.end(now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID) - cpu_before_recording, written);
  write_log(of.directory(), *of.control(), {"end", now(CLOCK_MONOTONIC)});
  if (of.is_free())
    of.directory().give_back();
  else
    keep_unsealed(of);
}

// Runs once a recording. Ticks that come meanwhile find nothing to do.
void end_as_asked(void*) {
  stop_all_clocks();
  end_recording();
}

// Ends a recording that was asked to end but has had no tick since, or waits for the tick that is
// ending it; half a second at most.
void end_earlier() {
  constexpr std::uint64_t kPatience = 500'000'000;  // ns
  const std::uint64_t limit = now(CLOCK_MONOTONIC) + kPatience;
  while (own_recorder && (own_recorder->end_requested() || ending.is_taken()) &&
         now(CLOCK_MONOTONIC) < limit) {
    end_if_asked();
    raw_syscall(SYS_sched_yield);
  }
}

// Returns false if another thread has been ending the recording for 0.3 s, perhaps held by a
// debugger.
bool claim_last_end() {
  constexpr timespec kMoment{0, 1'000'000};
  for (int looks = 0; looks < 300; ++looks) {
    if (ending.take()) return true;
    raw_syscall(SYS_nanosleep, arg(&kMoment), 0);
  }
  return false;
}

void finish_claimed() {
  if (Thread* thread = current_thread) end_thread(*thread);
  if (own_recorder->recording() && has_clock() && !has_sigprof(collector_sigprof))
    own_recorder->drop(format::Drop::handler_displaced);
  end_recording();
}

// No tick comes afterwards.
void end_for_good() {
  stop_all_clocks();
  discard_sigprof();
  await_all_handlers();
  end_recording();
}

}  // namespace

void end_if_asked() {
  alignas(16) static char stack[32 * 1024];
  if (!own_recorder->end_requested() || is_in_traced_call() || !ending.take()) return;
  if (own_recorder->end_requested()) call_on_stack(stack + sizeof stack, end_as_asked, nullptr);
  ending.give_back();
}

void finish() {
  if (!own_recorder || !own_recorder->control()) return;  // no experiment, or a fork child
  if (has_ended() || role_beside(*own_recorder) != Role::recorded) return;
  leave_traced_call();  // exit() by a signal handler
  if (!claim_last_end()) return;
  if (!has_ended()) finish_claimed();
  ending.give_back();
}

// A recording that has failed has not ended yet: its clocks and its threads may still ask the
// kernel.
void end_before_confinement() {
  keep_descriptors_apart(false);
  if (!own_recorder || !own_recorder->control()) return;
  if (has_ended() && !has_unsealed()) return;
  if (role_beside(*own_recorder) != Role::recorded) return;
  if (!has_ended()) {
    own_recorder->fail(format::Failure::confined, 0);
    end_for_good();
  }
  leave_unsealed();
}

bool has_earlier_ended() {
  end_earlier();
  if (!ending.take()) return false;
  seal_earlier();
  ending.give_back();
  return true;
}

bool end_session() {
  if (!own_recorder || !own_recorder->control()) return true;
  atomic(own_recorder->control()->asked).store(static_cast<std::uint32_t>(format::Ask::end));
  return has_earlier_ended() && has_ended();
}

}  // namespace gnomon::collector
