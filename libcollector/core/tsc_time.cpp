// CLOCK_MONOTONIC by the processor's time-stamp counter. The context stands at each function.
#include "libcollector/core/tsc_time.h"

#include <cpuid.h>
#include <fcntl.h>

#include <atomic>
#include <cstring>

#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

constexpr std::uint64_t kFirst = 50'000'000;      // ns until the first line
constexpr std::uint64_t kPeriod = 1'000'000'000;  // ns until the next line, at least
constexpr std::int64_t kJump = 10'000'000;        // ns: the system slept, or another counter runs

struct Reading {
  std::uint64_t tsc, ns;
};

constinit Reading first = {};                            // tsc 0: the counter is not used
constinit std::atomic<std::uint64_t> drawing_since = 0;  // ns; 0: nobody draws a line
constinit std::atomic<std::uint64_t> ended_at = 0;       // ns; 0: time goes on
// A thread that was preempted while it translated finds its line unchanged for as many periods.
constinit TscLine lines[16] = {};
constinit std::atomic<std::uint32_t> drawn = 0;

// The counter in the middle of the shortest of some readings of the clock.
Reading read_both() {
  Reading best{};
  std::uint64_t shortest = ~0ull;
  for (int i = 0; i < 4; ++i) {
    unsigned cpu = 0;
    const std::uint64_t before = __builtin_ia32_rdtscp(&cpu);
    const std::uint64_t ns = now(CLOCK_MONOTONIC);
    const std::uint64_t took = __builtin_ia32_rdtscp(&cpu) - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, ns};
  }
  return best;
}

std::uint64_t rate_between(const Reading& from, const Reading& to) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(to.ns - from.ns) << 32) /
                                    (to.tsc - from.tsc));
}

// Intel SDM, volume 2, CPUID 80000007H: the counter runs at one rate in all states. AMD likewise.
bool is_invariant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1 << 8) != 0;
}

// The kernel has watched the counter, or a hypervisor vouches for it.
bool does_kernel_rely_on_it() {
  const long file = raw_syscall(
      SYS_openat, AT_FDCWD, arg("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
      O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[32] = {};
  raw_syscall(SYS_read, file, arg(name), sizeof name - 1);
  raw_syscall(SYS_close, file);
  for (const char* known : {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"})
    if (std::strcmp(name, known) == 0) return true;
  return false;
}

// Rate: ns / 2^32 a tick.
void publish(std::uint64_t tsc, std::uint64_t ns, std::uint64_t rate) {
  TscLine& line = lines[++drawn % (sizeof lines / sizeof *lines)];
  line = {tsc, ns, rate, tsc + (kPeriod << 32) / rate};
  atomic(tsc_line).store(&line, std::memory_order_release);
}

// A line that went wrong is brought back within a period, so that time goes on without a step.
std::uint64_t draw_line(const TscLine* line, const Reading& at) {
  const std::uint64_t rate = rate_between(first, at);
  const std::uint64_t said = line ? translated(*line, at.tsc) : at.ns;
  const auto wrong = static_cast<std::int64_t>(at.ns - said);
  if (wrong > kJump || wrong < -kJump) {
    publish(at.tsc, at.ns, rate);
    return at.ns;
  }
  const auto slope = static_cast<__int128>(wrong) * static_cast<std::int64_t>(rate) /
                     static_cast<std::int64_t>(kPeriod);
  publish(at.tsc, said, rate + static_cast<std::uint64_t>(slope));
  return said;
}

}  // namespace

void begin_hook_time() {
  ended_at = 0;
  if (first.tsc == 0 && is_invariant() && does_kernel_rely_on_it()) first = read_both();
}

void end_hook_time() { ended_at = now(CLOCK_MONOTONIC); }

// A handler may leave a thread that draws a line by longjmp. Another thread draws the next line a
// period later. Signals are not blocked here, because that takes a system call, which would end a
// program that has confined itself.
std::uint64_t time_and_next_line() {
  if (const std::uint64_t end = ended_at.load(std::memory_order_relaxed); end != 0) return end;
  const TscLine* line = atomic(tsc_line).load(std::memory_order_acquire);
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  unsigned cpu = 0;
  if (!line && (first.tsc == 0 || at - first.ns < kFirst)) return at;
  std::uint64_t other = drawing_since.load(std::memory_order_acquire);
  if ((other != 0 && at < other + kPeriod) ||
      !drawing_since.compare_exchange_strong(other, at, std::memory_order_acquire))
    return line ? translated(*line, __builtin_ia32_rdtscp(&cpu)) : at;
  const std::uint64_t time = draw_line(line, read_both());
  std::uint64_t own = at;
  drawing_since.compare_exchange_strong(own, 0, std::memory_order_release);
  return time;
}

}  // namespace gnomon::collector
