// Brings the collector in while its threads compute, on a thread made for it, and says what it
// answered. Arguments: libcollector.so, /directory/test of test.N.er; what to do after: "again"
// brings it in a second time, "fork" in a child, whose exit status it hands on.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/targets/bring_in.h"
#include "tests/targets/burn.h"

namespace {

// Looks at its clock rarely: a thread that leaves the CPU for that before each tick is not met.
[[gnu::always_inline]] inline void compute(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
}

std::atomic<bool> is_there = false;  // the collector

// Until the collector is there, and for so long then.
[[gnu::always_inline]] inline void compute_before_and(double seconds) {
  while (!is_there.load(std::memory_order_relaxed)) continue;
  compute(seconds);
}

[[gnu::noipa]] void in_main(double seconds) { compute(seconds); }
[[gnu::noipa]] void in_thread(double seconds) { compute_before_and(seconds); }
[[gnu::noipa]] void in_blocking(double seconds) { compute_before_and(seconds); }

int in_child(const Wanted& wanted) {
  const pid_t child = fork();
  check(child >= 0);
  if (child == 0) {
    bring_in_by_thread(wanted);
    in_main(0.3);
    std::exit(7);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  check(argc >= 3);
  const std::string then = argc > 3 ? argv[3] : "";
  const Wanted wanted{argv[1], argv[2]};
  std::thread thread([] { in_thread(0.5); });
  std::thread blocking([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    in_blocking(0.5);
  });
  in_main(0.1);
  bring_in_by_thread(wanted);
  is_there = true;
  in_main(0.5);
  if (then == "again") bring_in_by_thread(wanted);
  thread.join();
  blocking.join();
  return then == "fork" ? in_child(wanted) : 3;
}
