// Threads of which each waits for something else: SECONDS, or `switches` COUNT: two threads, of
// which each wakes the other so often. Prints of each its name, its number and how long it has
// lived, in s. Without arguments it does nothing.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::atomic<bool> is_over = false;
std::mutex lock;
int ends[2];

bool goes_on() { return !is_over.load(std::memory_order_relaxed); }

[[gnu::noinline]] void sleeps() {
  while (goes_on()) std::this_thread::sleep_for(milliseconds(20));
}

[[gnu::noinline]] void reads() {
  char byte = 0;
  while (goes_on()) static_cast<void>(!read(ends[0], &byte, 1));
}

[[gnu::noinline]] void writes() {
  while (goes_on()) {
    usleep(30'000);
    static_cast<void>(!write(ends[1], "x", 1));
  }
}

[[gnu::noinline]] void holds() {
  while (goes_on()) {
    const std::lock_guard hold(lock);
    usleep(40'000);
  }
}

[[gnu::noinline]] void locks() {
  while (goes_on()) {
    usleep(1'000);
    const std::lock_guard hold(lock);
  }
}

[[gnu::noinline]] void computes() {
  volatile unsigned long sum = 0;
  while (goes_on()) sum = sum + 1;
}

// Both threads run on one CPU, so that each wake-up is a switch.
int turns = 0, of_first[2], of_second[2];

void take_turns(int from, int to) {
  cpu_set_t first{};
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof first, &first);
  char byte = 0;
  for (int i = 0; i < turns; ++i)
    if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1) std::abort();
}

void turns_first() { take_turns(of_first[0], of_second[1]); }
void turns_second() { take_turns(of_second[0], of_first[1]); }

void run(const char* name, void (*what)(), Clock::time_point begin) {
  pthread_setname_np(pthread_self(), name);
  what();
  const std::chrono::duration<double> life = Clock::now() - begin;
  std::printf("%s %ld %.6f\n", name, syscall(SYS_gettid), life.count());
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 0;
  if (count == 3) {
    turns = std::atoi(words[2]);
    if (pipe(of_first) != 0 || pipe(of_second) != 0) return 1;
    std::thread second(run, "second", turns_second, Clock::now());
    run("first", turns_first, Clock::now());
    second.join();
    return 0;
  }
  if (pipe(ends) != 0) return 1;
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  constexpr std::pair<const char*, void (*)()> kThreads[] = {
      {"sleeps", sleeps}, {"reads", reads},       {"writes", writes},     {"holds", holds},
      {"locks", locks},   {"computes", computes}, {"computes", computes}, {"computes", computes}};
  for (const auto& [name, what] : kThreads) threads.emplace_back(run, name, what, Clock::now());
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(words[1])));
  is_over = true;
  for (std::thread& each : threads) each.join();
  const std::chrono::duration<double> life = Clock::now() - begin;
  std::printf("main %d %.6f\n", getpid(), life.count());
}
