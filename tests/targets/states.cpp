// Uses CPU time in three ways. Arguments: seconds in the kernel, seconds of computing, number of
// threads that compute for about 10 microseconds. Prints its CPU time since main() in seconds.
// Without arguments it does nothing.
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/targets/burn.h"

namespace {

[[gnu::noinline]] void reads(double seconds) {
  static char room[1 << 20];
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 10; ++i)
      if (read(zeros, room, sizeof room) < 0) std::abort();
  close(zeros);
}

[[gnu::noinline]] void computes(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 200'000; ++i) asm volatile("");
}

void* short_life(void*) {
  for (int i = 0; i < 20'000; ++i) asm volatile("");
  return nullptr;
}

void make_threads(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, short_life, nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);
  }
}

double process_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return argc == 1 ? 0 : 2;
  const double before = process_time();
  reads(std::atof(argv[1]));
  computes(std::atof(argv[2]));
  make_threads(std::atoi(argv[3]));
  std::printf("%.4f\n", process_time() - before);
}
