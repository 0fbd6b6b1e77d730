// Computes beside 2000 threads that wait, until its standard input ends. Exit status 0 and "right":
// the checksum was what it should be, and no thread's wait ended before.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "tests/targets/longest_gap.h"

namespace {

constexpr int kThreads = 2000;

std::mutex lock;
std::condition_variable change;
bool over = false;
int waiting = 0, early = 0, ends[2];
int error = 0;  // of one that ended early

[[gnu::noipa]] std::uint64_t computes(std::uint64_t sum) {
  for (int i = 0; i < 300'000; ++i) sum = sum * 6364136223846793005ull + 1442695040888963407ull;
  return sum;
}

void* waits_in_libc(void*) {
  std::unique_lock hold(lock);
  ++waiting;
  change.notify_all();
  change.wait(hold, [] { return over; });
  return nullptr;
}

void* waits_in_kernel(void*) {
  {
    const std::lock_guard hold(lock);
    ++waiting;
    change.notify_all();
  }
  pollfd end{ends[0], POLLIN, 0};
  const int ready = poll(&end, 1, -1);
  const int why = ready < 0 ? errno : 0;
  const std::lock_guard hold(lock);
  if (ready != 1 || !over) ++early, error = why;
  return nullptr;
}

}  // namespace

int main() {
  if (pipe(ends) != 0) return 2;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128ul * 1024);
  static pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], &small, i % 2 ? waits_in_libc : waits_in_kernel, nullptr) != 0)
      return 2;
  {
    std::unique_lock hold(lock);
    change.wait(hold, [] { return waiting == kThreads; });
  }
  std::printf("%d is busy\n", getpid());
  std::fflush(stdout);
  const std::uint64_t expected = computes(1);
  bool is_right = true;
  LongestGap gap;
  for (pollfd input{STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 0) <= 0; gap.look())
    is_right = is_right && computes(1) == expected;
  gap.say();
  {
    const std::lock_guard hold(lock);
    over = true;
  }
  change.notify_all();
  if (write(ends[1], "x", 1) != 1) return 2;
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  if (!is_right) std::puts("wrong: checksum");
  if (early != 0) std::printf("wrong: %d waits ended before (errno %d)\n", early, error);
  if (!is_right || early != 0) return 1;
  std::puts("right");
  return 0;
}
