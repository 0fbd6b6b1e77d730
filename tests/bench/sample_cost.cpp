// What one tick costs: sends itself the collector's tick at a call depth, or, where no collector is
// there, a signal that an empty handler takes. Prints nanoseconds of CPU time a signal.
//   sample_cost DEPTH SIGNALS
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::uint64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// What the timer that sends SIGPROF to this thread says with it; null: there is none.
void* value_of_timer() {
  std::FILE* file = std::fopen("/proc/self/timers", "r");
  if (!file) return nullptr;
  char line[256];
  void* value = nullptr;
  int number = 0;
  for (void* found = nullptr; std::fgets(line, sizeof line, file);)
    if (std::sscanf(line, "signal: %d/%p", &number, &found) == 2 && number == SIGPROF)
      value = found;
  std::fclose(file);
  return value;
}

void nothing(int, siginfo_t*, void*) {}

double cost_of_signals(int count, void* value) {
  siginfo_t info{};
  info.si_signo = SIGPROF;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = value;
  const std::uint64_t begin = cpu_ns();
  for (int i = 0; i < count; ++i)
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGPROF, &info);
  return static_cast<double>(cpu_ns() - begin) / count;
}

[[gnu::noinline]] double at_depth(int depth, int count, void* value) {
  if (depth > 1) {
    const double cost = at_depth(depth - 1, count, value);
    asm volatile("");  // keeps this frame
    return cost;
  }
  cost_of_signals(count / 10, value);  // warm
  return cost_of_signals(count, value);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* value = value_of_timer();
  if (!value && std::getenv("LD_PRELOAD")) {
    std::fputs("the collector's timer is not in /proc/self/timers\n", stderr);
    return 1;
  }
  struct sigaction action {};
  action.sa_sigaction = nothing;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (!value) sigaction(SIGPROF, &action, nullptr);
  // main's callers and the function that sends are frames too.
  std::printf("%.0f\n", at_depth(std::atoi(argv[1]) - 4, std::atoi(argv[2]), value));
}
