// Waits for its own main thread by every kind of lock, each held while that computes. For each kind
// it prints how often and how long, by its own measurement.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "tests/targets/burn.h"

#define KEPT [[gnu::noinline]]

using Clock = std::chrono::steady_clock;

pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
bool is_filled = false;
std::mutex cpp_lock;
std::shared_mutex shared_lock;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
sem_t posted;
std::counting_semaphore<4> counted{0};
std::atomic<int> flag = 0;
mtx_t c11_lock;

namespace {

constexpr int kRounds = 2;
constexpr double kHeld = 0.03;  // s

KEPT void works_while_held() {
  burn(kHeld);
  asm volatile("");
}

struct Way {
  const char* name;
  void (*hold)();
  void (*let_go)();
  void (*wait)();  // and gives it back
};

KEPT void waits(const Way& way) {
  way.wait();
  asm volatile("");
}

double held_up(const Way& way) {
  way.hold();
  double waited = 0;
  std::atomic<bool> begins = false;
  std::thread other([&] {
    begins = true;
    const Clock::time_point before = Clock::now();
    waits(way);
    waited = std::chrono::duration<double>(Clock::now() - before).count();
  });
  while (!begins) std::this_thread::yield();
  works_while_held();
  way.let_go();
  other.join();
  return waited;
}

void nothing() {}

pthread_rwlock_t* table_lock() {
  static pthread_rwlock_t* const lock = [] {
    auto* const made = new pthread_rwlock_t;
    pthread_rwlock_init(made, nullptr);
    return made;
  }();
  return lock;
}

const std::vector<Way> kWays{
    {"mutex", [] { pthread_mutex_lock(&ledger); }, [] { pthread_mutex_unlock(&ledger); },
     [] {
       pthread_mutex_lock(&ledger);
       pthread_mutex_unlock(&ledger);
     }},
    {"std::mutex", [] { cpp_lock.lock(); }, [] { cpp_lock.unlock(); },
     [] { std::scoped_lock lock(cpp_lock); }},
    {"timedlock", [] { pthread_mutex_lock(&ledger); }, [] { pthread_mutex_unlock(&ledger); },
     [] {
       timespec limit{};
       clock_gettime(CLOCK_REALTIME, &limit);
       limit.tv_sec += 20;
       pthread_mutex_timedlock(&ledger, &limit);
       pthread_mutex_unlock(&ledger);
     }},
    {"read", [] { pthread_rwlock_wrlock(table_lock()); },
     [] { pthread_rwlock_unlock(table_lock()); },
     [] {
       pthread_rwlock_rdlock(table_lock());
       pthread_rwlock_unlock(table_lock());
     }},
    {"write", [] { shared_lock.lock(); }, [] { shared_lock.unlock(); },
     [] {
       shared_lock.lock();
       shared_lock.unlock();
     }},
    {"spin", [] { pthread_spin_lock(&spin); }, [] { pthread_spin_unlock(&spin); },
     [] {
       pthread_spin_lock(&spin);
       pthread_spin_unlock(&spin);
     }},
    {"condition", nothing,
     [] {
       pthread_mutex_lock(&queue_lock);
       is_filled = true;
       pthread_cond_signal(&queue_filled);
       pthread_mutex_unlock(&queue_lock);
     },
     [] {
       pthread_mutex_lock(&queue_lock);
       while (!is_filled) pthread_cond_wait(&queue_filled, &queue_lock);
       is_filled = false;
       pthread_mutex_unlock(&queue_lock);
     }},
    {"barrier", nothing, [] { pthread_barrier_wait(&barrier); },
     [] { pthread_barrier_wait(&barrier); }},
    {"semaphore", nothing, [] { sem_post(&posted); }, [] { sem_wait(&posted); }},
    {"std::counting_semaphore", nothing, [] { counted.release(); }, [] { counted.acquire(); }},
    {"std::atomic", [] { flag = 0; },
     [] {
       flag = 1;
       flag.notify_all();
     },
     [] { flag.wait(0); }},
    {"mtx", [] { mtx_lock(&c11_lock); }, [] { mtx_unlock(&c11_lock); },
     [] {
       mtx_lock(&c11_lock);
       mtx_unlock(&c11_lock);
     }},
};

}  // namespace

int main() {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&posted, 0, 0);
  mtx_init(&c11_lock, mtx_plain);
  for (const Way& way : kWays) {
    double waited = 0;
    for (int i = 0; i < kRounds; ++i) waited += held_up(way);
    std::printf("%s %d %.6f\n", way.name, kRounds, waited);
  }
}
