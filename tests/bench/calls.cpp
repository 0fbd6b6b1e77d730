// Calls what tracing records, from a call depth, and prints ns a call, the best of five rounds.
// With several threads, those of the slowest one.
//   calls malloc|lock|read DEPTH ROUNDS [THREADS]
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile std::size_t bytes = 100;
// A lock a thread, each in cache lines of its own.
thread_local struct alignas(128) { pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; } own;
int file = -1;
char page[4096];

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

[[gnu::noinline]] void allocate() {
  void* volatile block = std::malloc(bytes);
  std::free(block);
}
[[gnu::noinline]] void take() {
  pthread_mutex_lock(&own.lock);
  pthread_mutex_unlock(&own.lock);
}
[[gnu::noinline]] void look() {
  if (pread(file, page, sizeof page, 0) != sizeof page) std::abort();
}

template <typename Call>
[[gnu::noinline]] double best(int depth, long rounds, Call call) {
  if (depth > 1) {
    const double found = best(depth - 1, rounds, call);
    asm volatile("");  // keeps this frame
    return found;
  }
  double least = 1e18;
  for (int round = 0; round < 5; ++round) {
    const double before = now();
    for (long i = 0; i < rounds; ++i) call();
    least = std::min(least, (now() - before) / static_cast<double>(rounds));
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "malloc";
  const int depth = argc > 2 ? std::atoi(argv[2]) : 10;
  const long rounds = argc > 3 ? std::atol(argv[3]) : 1'000'000;
  char name[] = "calls.XXXXXX";
  if (what == "read" && ((file = mkstemp(name)) < 0 || unlink(name) != 0 ||
                         write(file, page, sizeof page) != sizeof page))
    return 1;
  const int count = argc > 4 ? std::atoi(argv[4]) : 1;
  std::vector<double> taken(static_cast<std::size_t>(count));
  const auto measure = [&](double& to) {
    to = what == "lock"   ? best(depth, rounds, take)
         : what == "read" ? best(depth, rounds, look)
                          : best(depth, rounds, allocate);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < taken.size(); ++i) others.emplace_back(measure, std::ref(taken[i]));
  measure(taken[0]);
  for (std::thread& other : others) other.join();
  std::printf("%.2f\n", *std::max_element(taken.begin(), taken.end()));
}
