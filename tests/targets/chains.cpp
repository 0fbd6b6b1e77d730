// Chains of threads: each computes for a moment, makes the next one and ends. Arguments: chains,
// seconds, microseconds of CPU time of each thread. Prints "ready", and at the end its CPU time in
// seconds.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "tests/targets/burn.h"

namespace {

std::atomic<int> running{0};
std::atomic<bool> is_over{false};
double moment = 0;  // s

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

[[gnu::noinline]] void compute() {
  for (const double end = cpu_time() + moment; cpu_time() < end;)
    for (int i = 0; i < 2'000; ++i) asm volatile("");
}

void* link(void*) {
  compute();
  pthread_t next{};
  if (is_over || pthread_create(&next, nullptr, link, nullptr) != 0)
    --running;
  else
    pthread_detach(next);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const double until = seconds_of(CLOCK_MONOTONIC) + std::atof(argv[2]);
  moment = std::atof(argv[3]) * 1e-6;
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    pthread_t first{};
    if (pthread_create(&first, nullptr, link, nullptr) != 0) return 1;
    ++running;
    pthread_detach(first);
  }
  std::puts("ready");
  std::fflush(stdout);
  while (seconds_of(CLOCK_MONOTONIC) < until) usleep(1000);
  is_over = true;
  while (running > 0) usleep(1000);
  std::printf("%.3f\n", seconds_of(CLOCK_PROCESS_CPUTIME_ID));
  return 0;
}
