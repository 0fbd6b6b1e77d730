// CPU clock: a timer or event on each thread's CPU time whose SIGPROF records a clock sample.
#pragma once
#include <signal.h>

#include <cstdint>

#include "libcollector/format/names.h"
#include "libcollector/format/settings.h"
#include "libcollector/record/recorder.h"
#include "libcollector/record/thread_notes.h"
#include "libcollector/target/thread_slots.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Called in the handler by a tick that finds the recording ended.
using NotRecording = void (*)();

// What ticks. Timers on a thread's CPU time expire at the kernel's own ticks only; events tick
// exactly, but cost time at every context switch and need a system call that a sandbox may punish.
enum class Timer { cpu_timer, task_clock_event };
constexpr const char* timer_name(Timer timer) {
  return timer == Timer::task_clock_event ? format::kTaskClockEvent : format::kThreadCpuTimer;
}
// confined: system calls of the program are filtered. Normal context.
Timer choose_timer(std::uint64_t interval_ns, bool confined);
// To be called before the handler is installed. Normal context.
void prepare_clock(const format::SettingValues& settings, Timer timer, NotRecording not_recording);
// Returns false if the recording has no clock: an interval of 0.
bool has_clock();
// While gnomon-sampler takes the clock's samples, ticks record none, and only tell it where they
// find a thread in a system call. Normal context.
void tell_kernel_places();
// The handler of SIGPROF. All signals are blocked while it records, so nothing of the program runs
// between enter and leave; a SIGPROF that is no tick is passed on to the program.
extern "C" void collector_sigprof(int signal, siginfo_t* info, void* context);
// Returns true if one of the collector's clocks sent this SIGPROF. Any context.
bool is_tick(const siginfo_t& info);
// Starts the clock of the slot's thread, the calling one or another of this process. Also returns
// true if it runs already. Normal context.
bool start_clock(Thread& thread);
// Any context.
void stop_clock(Thread& thread);
// Pauses the calling thread's clock until resume_clock; a tick that becomes due meanwhile is made
// up for at the next SIGPROF. Returns false if the clock was not running. Called with all signals
// blocked.
bool pause_clock(Thread& thread);
void resume_clock(Thread& thread);
// Stops the clock of every thread, once the recording has ended. Ticks may still be pending or
// being handled. Waits 0.2 s at most. Normal context.
void stop_all_clocks();
// Waits until no thread is in the collector's handler, 0.2 s at most. No tick is pending any more.
// Normal context.
void await_all_handlers();

}  // namespace gnomon::collector
