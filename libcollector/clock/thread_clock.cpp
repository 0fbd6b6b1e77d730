// CPU clock. Timers are set in normal context; collector_sigprof is the signal handler of SIGPROF.
#include "libcollector/clock/thread_clock.h"

#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "libcollector/clock/ignored_code.h"
#include "libcollector/clock/interrupted_wait.h"
#include "libcollector/clock/kernel_place.h"
#include "libcollector/clock/program_action.h"
#include "libcollector/clock/task_clock_event.h"
#include "libcollector/clock/threads.h"
#include "libcollector/core/atomic.h"
#include "libcollector/core/proc_status.h"
#include "libcollector/core/stack_switch.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/target/code.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {
namespace {

constinit std::uint64_t interval = 0;
constinit std::uint32_t depth = 0;        // frames
constinit std::uint64_t kernel_tick = 0;  // ns
constinit Timer timer_kind = Timer::cpu_timer;
constinit std::atomic<bool> may_open_events = false;
constinit NotRecording not_recording = nullptr;
constinit KernelPlaces kernel_places = {};

constexpr std::uint32_t kTicking = 1, kStarting = 2;  // Thread::ticking
constexpr std::uint64_t kPatience = 200'000'000;      // ns, for other threads

static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == kSavedOffset &&
              REG_RIP == int{kSavedRip} && REG_RSP == int{kSavedRsp} && REG_RBP == int{kSavedRbp});

struct Tick {
  Recorder& to;
  Thread& thread;
  const ucontext_t& context;
  Writer& writer;
};

// The node of the call stack; 0: failed. Again if a frame showed that other code has come to lie
// where some was: rules and stacks of that are left behind.
std::uint32_t interned(const Interrupted& at, Recorder& to, Writer& writer) {
  for (bool again = true;; again = false) {
    const std::uint32_t epoch = to.epoch();
    LoadedHold hold;  // until the frames' objects are noted
    const Walked walked = own_unwinder.walk(at, writer.frames, depth, hold);
    const std::uint32_t stack =
        to.intern(writer, walked.count, format::walk_mark(walked.end, walked.guessed),
                  [&to](std::uint64_t pc, Writer& by) { note_fresh_frame(pc, to, by); });
    if (!again || to.epoch() == epoch) return stack;
  }
}

std::uint16_t current_cpu() {
  const int cpu = sched_getcpu();
  return cpu < 0 ? format::kNoCpu : static_cast<std::uint16_t>(cpu);
}

std::uint32_t stack_of(const Tick& tick) {
  const stack_t& signals = tick.context.uc_stack;
  const auto alternate = reinterpret_cast<std::uint64_t>(signals.ss_sp);
  return interned({reinterpret_cast<const std::uint64_t*>(tick.context.uc_mcontext.gregs),
                   {tick.thread.stack, {alternate, alternate + signals.ss_size}}},
                  tick.to, tick.writer);
}

// On the writer's stack.
void sample(void* pointer) {
  const Tick& tick = *static_cast<Tick*>(pointer);
  const std::uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
  format::ClockSample record{};
  record.head.thread = tick.thread.tid;
  record.head.time = now(CLOCK_MONOTONIC);
  record.head.stack = stack_of(tick);
  record.head.cpu = current_cpu();
  record.weight = cpu - tick.thread.last_cpu;
  if (record.head.stack && tick.to.put(tick.writer, format::kClockSample, record))
    tick.thread.last_cpu = cpu;
}

// Likewise, where gnomon-sampler takes the samples.
void tell_place(void* pointer) {
  const Tick& tick = *static_cast<Tick*>(pointer);
  if (const std::uint32_t stack = stack_of(tick)) kernel_places.put(tick.thread.tid, stack);
}

// Without a writer the time goes to the thread's next sample.
void record_sample(Recorder& to, Thread& thread, const ucontext_t& context) {
  const bool is_outside = format::is_from_outside(atomic(to.control()->clock).load());
  if (is_outside) thread.last_cpu = now(CLOCK_THREAD_CPUTIME_ID);
  if (is_outside && !is_in_system_call(context)) return;
  Writer* writer = to.try_enter();
  if (!writer) {
    to.drop(format::Drop::writers_busy);
    return;
  }
  Tick tick{to, thread, context, *writer};
  call_on_stack(writer->stack + sizeof writer->stack, is_outside ? tell_place : sample, &tick);
  to.leave(*writer);
}

// Gives the thread an event in place of its timer, unless the kernel refuses or no writer is free.
// On a writer's stack, because the thread's may be small.
void open_event(Recorder& to, Thread& thread) {
  Writer* const writer = to.try_enter();
  if (!writer) return;
  const auto open = [](void* whose) {
    Thread& of = *static_cast<Thread*>(whose);
    of.event = open_task_clock(interval);
    if (!of.event) may_open_events.store(false, std::memory_order_relaxed);
  };
  call_on_stack(writer->stack + sizeof writer->stack, open, &thread);
  to.leave(*writer);
  if (thread.event) raw_syscall(SYS_timer_delete, thread.timer);
}

// The first tick comes at a random time within `window`, later ones every `period`. The first
// sample's weight is the window minus the whole periods that the thread can have lived: thus the
// weights of a thread's samples sum up to its CPU time in the mean, however short it lives. A first
// tick that comes far too late stands for all that time. The event is opened only here, so that
// threads that end before do not pay for one.
void on_first_tick(Recorder& to, Thread& thread) {
  const std::uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t window = std::max(interval, kernel_tick);
  thread.ticked = 1;
  if (timer_kind == Timer::task_clock_event) open_event(to, thread);
  const std::uint64_t period = thread.event ? interval : window;
  if (cpu - thread.last_cpu > 2 * window) return;
  const std::uint64_t lived = std::min(cpu - thread.last_cpu, window - 1);
  thread.last_cpu = cpu - (window - lived / period * period);
}

// The kernel looks at timers of CPU time only at its own ticks. On a crowded CPU those miss a
// thread whose turn ends at the same point of its code again and again, as reading its CPU clock
// may make it: then few samples stand for much time, all of them elsewhere. An event ticks on time.
void replace_late_timer(Recorder& to, Thread& thread) {
  constexpr std::uint32_t kMostLate = 2;
  const std::uint64_t on_time = thread.last_cpu + interval + 2 * kernel_tick;
  if (!thread.event && now(CLOCK_THREAD_CPUTIME_ID) > on_time && ++thread.late >= kMostLate &&
      may_open_events.load(std::memory_order_relaxed))
    open_event(to, thread);
}

// Returns the slot whose clock ticked, or null if that clock is gone.
Thread* thread_of(const siginfo_t& info) {
  Thread* thread = current_thread;
  if (info.si_code != SI_TIMER || info.si_value.sival_ptr == thread) return thread;
  auto* of_timer = static_cast<Thread*>(info.si_value.sival_ptr);
  return atomic(of_timer->adopting).load() != 0 && adopt_thread(*of_timer) ? of_timer : nullptr;
}

void tick(Thread* thread, const ucontext_t& context) {
  if (!thread || thread->in_handler || !thread->ticking) return;
  const auto pc = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (!thread->ticked && ignored_code.contains(pc)) return;
  atomic(thread->in_handler).exchange(1);  // before recording() is read: see stop_all_clocks
  Recorder& to = *own_recorder;
  const bool recording = to.recording();
  thread->paused = 0;
  if (recording) {
    if (!thread->ticked)
      on_first_tick(to, *thread);
    else
      replace_late_timer(to, *thread);
    if (to.paused())
      thread->last_cpu = now(CLOCK_THREAD_CPUTIME_ID);
    else
      record_sample(to, *thread, context);
  } else {
    stop_clock(*thread);
  }
  atomic(thread->in_handler).store(0, std::memory_order_release);
  if (!recording) not_recording();
}

// CPU time at which the next tick is due, ns.
std::uint64_t next_due(const Thread& thread) {
  return thread.ticked ? thread.last_cpu + interval : thread.first_due;
}

// Returns true if a tick became due while the clock was paused.
bool is_overdue(const Thread* thread) {
  return thread && thread->paused && thread->ticking == kTicking &&
         now(CLOCK_THREAD_CPUTIME_ID) > next_due(*thread);
}

// Random, so that a thread shorter than the interval is sampled with the probability of its share
// of the interval. The kernel adds the time until its own next tick, which is random too.
std::uint64_t first_period() {
  std::uint64_t random = 0;
  // Not by getrandom(3), which is a cancellation point.
  if (raw_syscall(SYS_getrandom, arg(&random), sizeof random, GRND_NONBLOCK) != sizeof random)
    random = now(CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15ull >> 20;
  const std::uint64_t period = random % interval;
  return 1 + period - period % kernel_tick;
}

bool create_timer(Thread& thread, clockid_t clock) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = &thread;
  event._sigev_un._tid = static_cast<pid_t>(thread.tid);
  return raw_syscall(SYS_timer_create, clock, arg(&event), arg(&thread.timer)) == 0;
}

}  // namespace

Timer choose_timer(std::uint64_t interval_ns, bool confined) {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);  // the kernel's tick
  kernel_tick = static_cast<std::uint64_t>(resolution.tv_nsec);
  if (kernel_tick == 0) kernel_tick = 10'000'000;
  may_open_events = !confined;
  const bool fine = interval_ns < 2 * kernel_tick;
  return fine && !confined && has_task_clock_events() ? Timer::task_clock_event : Timer::cpu_timer;
}

void prepare_clock(const format::SettingValues& settings, Timer timer, NotRecording ender) {
  interval = settings[format::Setting::profile];
  depth = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(settings[format::Setting::depth], 1, kMaxFrames));
  timer_kind = timer;
  not_recording = ender;
}

bool has_clock() { return interval != 0; }

void tell_kernel_places() { kernel_places.open(own_recorder->directory()); }

bool is_tick(const siginfo_t& info) {
  return (info.si_code == SI_TIMER && is_thread_slot(info.si_value.sival_ptr)) ||
         (info.si_code == POLL_IN && is_event_descriptor(info.si_fd));
}

void collector_sigprof(int, siginfo_t* info, void* interrupted) {
  const int saved_errno = errno;
  auto& context = *static_cast<ucontext_t*>(interrupted);
  if (is_tick(*info)) {
    tick(thread_of(*info), context);
    restart_wait(context);
  } else {
    if (is_overdue(current_thread)) tick(current_thread, context);
    pass_on(*info, context);
  }
  errno = saved_errno;
}

// If stop_clock comes in between, this function deletes the timer.
bool start_clock(Thread& thread) {
  if (!has_clock() || !own_recorder->recording()) return false;
  std::uint32_t none = 0;
  if (!atomic(thread.ticking).compare_exchange_strong(none, kStarting)) return true;
  const bool is_own = raw_syscall(SYS_gettid) == long{thread.tid};
  const clockid_t clock = is_own ? CLOCK_THREAD_CPUTIME_ID : cpu_clock_of(thread.tid);
  if (!create_timer(thread, clock)) {
    atomic(thread.ticking).store(0);
    return false;
  }
  thread.last_cpu = now(clock);
  thread.ticked = 0;
  thread.late = 0;
  thread.event = nullptr;
  std::uint32_t starting = kStarting;  // before recording() is read: see stop_all_clocks
  if (!atomic(thread.ticking).compare_exchange_strong(starting, kTicking)) {
    raw_syscall(SYS_timer_delete, thread.timer);
    return false;
  }
  const std::uint64_t first = first_period();
  thread.first_due = thread.last_cpu + first;
  const itimerspec spec{timespec_of(interval), timespec_of(first)};
  if (own_recorder->recording() &&
      raw_syscall(SYS_timer_settime, thread.timer, 0, arg(&spec), 0) == 0)
    return true;
  stop_clock(thread);
  return false;
}

// In a fork child the timer's number and the event's page may belong to the program.
void stop_clock(Thread& thread) {
  // From here on a tick does nothing.
  if (atomic(thread.ticking).exchange(0) != kTicking) return;
  if (!own_recorder->control()) return;
  if (thread.event)
    close_task_clock(thread.event);
  else
    raw_syscall(SYS_timer_delete, thread.timer);
}

// A vfork child shares this memory, but the clock is its parent's.
bool pause_clock(Thread& thread) {
  atomic(thread.in_handler).exchange(1);  // before recording() is read: see stop_all_clocks
  if (!own_recorder->recording() || thread.ticking != kTicking ||
      raw_syscall(SYS_gettid) != long{thread.tid}) {
    atomic(thread.in_handler).store(0, std::memory_order_release);
    return false;
  }
  thread.paused = 1;
  const itimerspec never{};
  // A stop_clock that does not wait for the pause any longer must not find the page.
  thread.had_event = thread.event ? 1 : 0;
  if (void* event = std::exchange(thread.event, nullptr))
    close_task_clock(event);
  else
    raw_syscall(SYS_timer_settime, thread.timer, 0, arg(&never), 0);
  return true;
}

void resume_clock(Thread& thread) {
  const bool had_event = thread.had_event != 0;
  if (had_event) thread.event = open_task_clock(interval);
  if (had_event && !thread.event && !create_timer(thread, CLOCK_THREAD_CPUTIME_ID)) {
    thread.ticking = 0;
    own_recorder->drop(format::Drop::thread_clocks);
  } else if (!thread.event) {
    const std::uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID), due = next_due(thread);
    const itimerspec spec{timespec_of(interval), timespec_of(due > cpu ? due - cpu : 1)};
    raw_syscall(SYS_timer_settime, thread.timer, 0, arg(&spec), 0);
  }
  atomic(thread.in_handler).store(0, std::memory_order_release);
}

void stop_all_clocks() {
  // A handler that has read recording() before may be opening an event.
  visit_threads(
      [](Thread& thread, std::uint64_t limit) {
        while (atomic(thread.in_handler).load() != 0 && now(CLOCK_MONOTONIC) < limit)
          raw_syscall(SYS_sched_yield);
        stop_clock(thread);
      },
      now(CLOCK_MONOTONIC) + kPatience);
}

// The kernel blocks every signal from the delivery of a tick until the handler has returned, and
// nothing else blocks SIGPROF except in a program with a handler of its own.
void await_all_handlers() {
  visit_threads(
      [](Thread& thread, std::uint64_t limit) {
        ProcStatus status;
        while (status.read(thread.tid) && status.blocked() >> (SIGPROF - 1) & 1 &&
               now(CLOCK_MONOTONIC) < limit)
          raw_syscall(SYS_sched_yield);
      },
      now(CLOCK_MONOTONIC) + kPatience);
}

}  // namespace gnomon::collector
