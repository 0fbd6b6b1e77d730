// Computes a fixed amount at a call depth on each of its threads, or allocates. Prints the CPU and
// the elapsed time of that and the CPU time of the whole process, in nanoseconds.
// TICK: nanoseconds between signals of a perf event, each to an empty handler.
//   fixed_work compute DEPTH THREADS MILLIONS [TICK]
//   fixed_work allocate PAIRS
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

std::uint64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// As long as the thread lives.
void tick(long interval) {
  if (interval == 0) return;
  signal(SIGPROF, [](int) {});
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(interval);
  const auto event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  const f_owner_ex owner{F_OWNER_TID, gettid()};
  if (event < 0 || fcntl(event, F_SETOWN_EX, &owner) != 0 || fcntl(event, F_SETSIG, SIGPROF) != 0 ||
      fcntl(event, F_SETFL, O_ASYNC) != 0)
    std::exit(1);
}

[[gnu::noinline]] void compute(int depth, long millions) {
  if (depth > 1) {
    compute(depth - 1, millions);
    asm volatile("");  // keeps this frame
    return;
  }
  unsigned x = 1;
  for (long i = 0; i < millions * 1'000'000; ++i) {
    x = x * 3 + 1;
    asm volatile("" : "+r"(x));
  }
}

[[gnu::noinline]] void allocate(long pairs) {
  for (long i = 0; i < pairs; ++i) {
    void* volatile p = std::malloc(100);
    std::free(p);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return i < argc ? std::atol(argv[i]) : 1; };
  const std::uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID), elapsed = now(CLOCK_MONOTONIC);
  if (what == "allocate") {
    allocate(number(2));
  } else {
    std::vector<std::thread> others;
    const auto work = [&] {
      tick(argc > 5 ? number(5) : 0);
      compute(static_cast<int>(number(2)), number(4));
    };
    for (long i = 1; i < number(3); ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }
  const std::uint64_t all = now(CLOCK_PROCESS_CPUTIME_ID);
  std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(all - cpu),
              static_cast<unsigned long long>(now(CLOCK_MONOTONIC) - elapsed),
              static_cast<unsigned long long>(all));
}
