// Spends a known share of its CPU time in three functions: 50, 30 and 20 %. Arguments: CPU seconds
// (default 4), threads (default 1).
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace work {

std::uint64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// g++ drops the frame of a function that touches no stack; asking for its address keeps it.
#define KEEP_FRAME() asm volatile("" ::"r"(__builtin_frame_address(0)))

[[gnu::noinline]] void spin(std::uint64_t until) {
  KEEP_FRAME();
  volatile unsigned x = 0;
  while (thread_cpu_ns() < until)
    for (int i = 0; i < 20000; ++i) x = x * 3 + 1;
}

[[gnu::noinline]] void half(std::uint64_t until) {
  KEEP_FRAME();
  volatile unsigned x = 0;
  while (thread_cpu_ns() < until)
    for (int i = 0; i < 20000; ++i) x = x * 3 + 1;
}

[[gnu::noinline]] void third(std::uint64_t until) {
  spin(until);
  KEEP_FRAME();
}

[[gnu::noinline]] void fifth(std::uint64_t until) {
  KEEP_FRAME();
  volatile unsigned x = 0;
  while (thread_cpu_ns() < until)
    for (int i = 0; i < 20000; ++i) x = x * 5 + 1;
}

}  // namespace work

extern "C" [[gnu::noinline]] void checkpoint(int round) {
  asm volatile("" ::"r"(round) : "memory");
}

static void run(int rounds, bool main_thread) {
  std::uint64_t at = work::thread_cpu_ns();
  for (int round = 0; round < rounds; ++round) {
    work::half(at += 50'000'000);
    work::third(at += 30'000'000);
    work::fifth(at += 20'000'000);
    if (main_thread && round == rounds / 2) checkpoint(round);
  }
}

int main(int argc, char** argv) {
  const int rounds = (argc > 1 ? std::atoi(argv[1]) : 4) * 10;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run, rounds, false);
  run(rounds, true);
  for (std::thread& thread : others) thread.join();
  std::puts("done");
}
