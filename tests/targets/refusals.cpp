// Waits with limits of time that are none or have passed, for what is free and for what is taken,
// and prints what libc says of each and what has become of the object.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <initializer_list>

namespace {

constexpr timespec kLimits[] = {{0, -1}, {0, 1'000'000'000}, {-1, 0}, {0, 0}, {1, 999'999'999}};
constexpr clockid_t kClocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, 77};

void say(const char* call, int result, int error, int left) {
  std::printf("%s %d %d %d\n", call, result, error, left);
}

void of_semaphores(int value, const timespec& limit) {
  sem_t semaphore;
  sem_init(&semaphore, 0, static_cast<unsigned>(value));
  int left = 0;
  errno = 0;
  int result = sem_timedwait(&semaphore, &limit);
  sem_getvalue(&semaphore, &left);
  say("sem_timedwait", result, errno, left);
  for (const clockid_t clock : kClocks) {
    sem_init(&semaphore, 0, static_cast<unsigned>(value));
    errno = 0;
    result = sem_clockwait(&semaphore, clock, &limit);
    sem_getvalue(&semaphore, &left);
    say("sem_clockwait", result, errno, left);
  }
}

// is_taken: by a writer, who is this thread.
void of_read_write_locks(bool is_taken, const timespec& limit) {
  const auto tries = [&](const char* call, auto wait) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    if (is_taken) pthread_rwlock_wrlock(&lock);
    const int result = wait(&lock);
    say(call, result, 0, pthread_rwlock_trywrlock(&lock));
  };
  tries("timedrdlock", [&](auto* lock) { return pthread_rwlock_timedrdlock(lock, &limit); });
  tries("timedwrlock", [&](auto* lock) { return pthread_rwlock_timedwrlock(lock, &limit); });
  for (const clockid_t clock : kClocks) {
    tries("clockrdlock",
          [&](auto* lock) { return pthread_rwlock_clockrdlock(lock, clock, &limit); });
    tries("clockwrlock",
          [&](auto* lock) { return pthread_rwlock_clockwrlock(lock, clock, &limit); });
  }
}

void of_mutexes(bool is_taken, const timespec& limit) {
  const auto tries = [&](const char* call, auto wait) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (is_taken) pthread_mutex_lock(&lock);
    const int result = wait(&lock);
    say(call, result, 0, pthread_mutex_trylock(&lock));
  };
  tries("timedlock", [&](auto* lock) { return pthread_mutex_timedlock(lock, &limit); });
  for (const clockid_t clock : kClocks)
    tries("clocklock", [&](auto* lock) { return pthread_mutex_clocklock(lock, clock, &limit); });
  mtx_t lock;
  mtx_init(&lock, mtx_timed);
  if (is_taken) mtx_lock(&lock);
  const int result = mtx_timedlock(&lock, &limit);
  say("mtx_timedlock", result, 0, mtx_trylock(&lock));
}

}  // namespace

int main() {
  for (const timespec& limit : kLimits)
    for (const bool is_taken : {false, true}) {
      of_semaphores(is_taken ? 0 : 1, limit);
      of_read_write_locks(is_taken, limit);
      of_mutexes(is_taken, limit);
    }
}
