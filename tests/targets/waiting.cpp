// Threads that each wait for something else: SECONDS, or `switches` COUNT: two threads that wake
// each other so often. Prints for each thread its name, its number, the time in its function, and
// the time from before its creation until it was joined (main: 0), in s. Without arguments it does
// nothing.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

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

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Thread {
 public:
  Thread(const char* name, void (*what)()) : name_(name), thread_([=, this] { run(what); }) {}

  void join() {
    thread_.join();
    std::printf("%s %ld %.6f %.6f\n", name_, id_, life_, seconds_since(created_));
  }

 private:
  void run(void (*what)()) {
    const auto begin = Clock::now();
    pthread_setname_np(pthread_self(), name_);
    id_ = syscall(SYS_gettid);
    what();
    life_ = seconds_since(begin);
  }

  Clock::time_point created_ = Clock::now();
  const char* name_;
  long id_ = 0;
  double life_ = 0;
  std::thread thread_;
};

void say_of_main(const char* name, Clock::time_point begin) {
  std::printf("%s %d %.6f 0\n", name, getpid(), seconds_since(begin));
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 0;
  if (count == 3) {
    turns = std::atoi(words[2]);
    if (pipe(of_first) != 0 || pipe(of_second) != 0) return 1;
    const auto begin = Clock::now();
    Thread second("second", turns_second);
    turns_first();
    say_of_main("first", begin);
    second.join();
    return 0;
  }
  if (pipe(ends) != 0) return 1;
  const auto begin = Clock::now();
  std::deque<Thread> threads;
  constexpr std::pair<const char*, void (*)()> kThreads[] = {
      {"sleeps", sleeps}, {"reads", reads},       {"writes", writes},     {"holds", holds},
      {"locks", locks},   {"computes", computes}, {"computes", computes}, {"computes", computes}};
  for (const auto& [name, what] : kThreads) threads.emplace_back(name, what);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(words[1])));
  is_over = true;
  for (Thread& each : threads) each.join();
  say_of_main("main", begin);
}
