// CPU clock: a timer or event on each thread's CPU time whose SIGPROF records a clock sample.
#pragma once
#include <signal.h>

#include <cstdint>

#include "libcollector/core/thread_slots.h"
#include "libcollector/format/names.h"
#include "libcollector/record/recorder.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Called in the handler for every frame the stack table did not know.
using FreshFrame = void (*)(std::uint64_t pc, Recorder& recorder, Lane& lane);

// Called at the first tick of a thread whose slot is `adopting`, in its handler. False: it is not
// this thread's, or not yet.
using Adopt = bool (*)(Thread& thread);

// Called by a tick that finds nothing recorded any more, in its handler.
using NotRecording = void (*)();

// What ticks: timers on a thread's CPU time expire at the kernel's ticks only, which events do not;
// events cost every switch to another thread some time, and the program a system call of a kind
// that a sandbox may punish.
enum class Timer { cpu_timer, task_clock_event };
constexpr const char* timer_name(Timer timer) {
  return timer == Timer::task_clock_event ? format::kTaskClockEvent : format::kThreadCpuTimer;
}
// confined: system calls of the program are filtered. Normal context.
Timer choose_timer(std::uint64_t interval_ns, bool confined);
// Before the handler is installed. recorder: in memory a fork child sees zeroed. Normal context.
void prepare_clock(Recorder& recorder, Unwinder& unwinder, std::uint64_t interval_ns, Timer timer,
                   FreshFrame fresh, Adopt adopt, NotRecording not_recording);
// The handler of SIGPROF. All signals are blocked while it records, so nothing of the program runs
// between enter and leave; a SIGPROF that is no tick is passed on to the program.
extern "C" void collector_sigprof(int signal, siginfo_t* info, void* context);
// True of a SIGPROF that one of our clocks sent. Any context.
bool is_tick(const siginfo_t& info);
// Starts the clock of the thread whose slot it is: the calling one, or another of this process.
// True as well if it runs already. Normal context.
bool start_clock(Thread& thread);
// Any context.
void stop_clock(Thread& thread);
// The calling thread's clock does not tick until resume_clock; a tick that becomes due meanwhile is
// made up for when the next SIGPROF comes. False: it did not run. With all signals blocked.
bool pause_clock(Thread& thread);
void resume_clock(Thread& thread);
// Once nothing is recorded any more: stops the clock of every thread. Ticks may still be pending,
// or be handled. Normal context.
void stop_all_clocks();
// Once no tick is pending: waits until no thread is in our handler. Normal context. Both wait a
// fifth of a second at most.
void await_all_handlers();

}  // namespace gnomon::collector
