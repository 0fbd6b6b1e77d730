// Traced: what waits for another thread by pthreads, semaphores and the locks of C11. Normal
// context.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "libcollector/core/time.h"
#include "libcollector/hook/hook.h"
#include "libcollector/trace/waits.h"

// Weak, unlike the header's.
extern "C" int pthread_getcpuclockid(pthread_t, clockid_t*)  // NOLINT(*-redundant-declaration)
    __attribute__((weak));

namespace gnomon::collector {
namespace {

using format::WaitKind;

std::uint32_t owner_of(const pthread_mutex_t* lock) {
  return static_cast<std::uint32_t>(atomic(lock->__data.__owner).load(std::memory_order_relaxed));
}

std::uint32_t writer_of(const pthread_rwlock_t* lock) {
  return static_cast<std::uint32_t>(
      atomic(lock->__data.__cur_writer).load(std::memory_order_relaxed));
}

Outcome outcome_of(int error) {
  if (error == ETIMEDOUT) return Outcome::given_up;
  return error == 0 || error == EOWNERDEAD || error == PTHREAD_BARRIER_SERIAL_THREAD
             ? Outcome::granted
             : Outcome::refused;
}

Outcome outcome_of_sem(int result) {
  if (result == 0) return Outcome::granted;
  return errno == ETIMEDOUT || errno == EINTR ? Outcome::given_up : Outcome::refused;
}

Outcome outcome_of_c11(int result) {
  if (result == thrd_success) return Outcome::granted;
  return result == thrd_timedout ? Outcome::given_up : Outcome::refused;
}

// An attempt that does not wait comes first; only what it finds taken is waited for. It decides
// what the call decides: EOWNERDEAD means that the lock is the caller's, ENOTRECOVERABLE is final.
// holder(): right after the attempt, because the lock may be let go of at any moment. kBusy: what
// the attempt returns if it would have to wait.
// frame: the hook's. The rest is apart so that what is usual saves no registers for it.
template <typename Wait>
[[gnu::noinline]] int wait_for(const void* frame, const Awaited& awaited, Wait wait,
                               Outcome (*outcome)(int)) {
  return traced_wait(call_of(frame), awaited, wait, outcome);
}
template <int kBusy, typename Try>
[[gnu::noinline]] int record_attempt(const void* frame, WaitKind kind, const void* object,
                                     Try attempt, Outcome (*outcome)(int)) {
  const std::uint64_t since = time_before();
  const int tried = attempt();
  const std::uint64_t until = time_after();
  if (tried != kBusy && outcome(tried) == Outcome::granted)
    record_wait(call_of(frame), {kind, object, 0}, since, until);
  return tried;
}

template <int kBusy, typename Try, typename Holder, typename Wait>
[[gnu::always_inline]] inline int lock_by(const void* frame, WaitKind kind, const void* object,
                                          Try attempt, Holder holder, Wait wait,
                                          Outcome (*outcome)(int)) {
  const int tried = records_every_call()
                        ? record_attempt<kBusy>(frame, kind, object, attempt, outcome)
                        : attempt();
  if (tried != kBusy) [[likely]]
    return tried;
  return wait_for(frame, {kind, object, holder()}, wait, outcome);
}

// libc refuses an invalid limit of time before it tries to take the lock. Semaphores and read-write
// locks refuse every such limit, mutexes an unknown clock alone.
// Source: glibc 2.36, futex_abstimed_supported_clockid and valid_nanoseconds.
bool is_known(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
bool is_valid() { return true; }
bool is_valid(const timespec* limit) {
  return !limit || (limit->tv_nsec >= 0 && limit->tv_nsec < 1'000'000'000);
}
bool is_valid(clockid_t clock, const timespec* limit) { return is_known(clock) && is_valid(limit); }
bool has_known_clock() { return true; }
bool has_known_clock(const timespec*) { return true; }
bool has_known_clock(clockid_t clock, const timespec*) { return is_known(clock); }

constinit NextSymbol<int (*)(pthread_mutex_t*)> real_mutex_lock{"pthread_mutex_lock"};
constinit NextSymbol<int (*)(pthread_mutex_t*)> real_mutex_trylock{"pthread_mutex_trylock"};
constinit NextSymbol<int (*)(pthread_mutex_t*, const timespec*)> real_mutex_timedlock{
    "pthread_mutex_timedlock"};
constinit NextSymbol<int (*)(pthread_mutex_t*, clockid_t, const timespec*)> real_mutex_clocklock{
    "pthread_mutex_clocklock"};

constinit NextSymbol<int (*)(pthread_mutex_t*)> real_mutex_unlock{"pthread_mutex_unlock"};

template <auto& Real, typename... More>
int traced_mutex(pthread_mutex_t* lock, More... more) {
  if (!has_known_clock(more...)) return Real(lock, more...);
  return lock_by<EBUSY>(
      __builtin_frame_address(0), WaitKind::mutex, lock, [=] { return real_mutex_trylock(lock); },
      [=] { return owner_of(lock); }, [=] { return Real(lock, more...); }, outcome_of);
}

using ReadWrite = pthread_rwlock_t*;
constinit NextSymbol<int (*)(ReadWrite)> real_rdlock{"pthread_rwlock_rdlock"};
constinit NextSymbol<int (*)(ReadWrite)> real_tryrdlock{"pthread_rwlock_tryrdlock"};
constinit NextSymbol<int (*)(ReadWrite, const timespec*)> real_timedrdlock{
    "pthread_rwlock_timedrdlock"};
constinit NextSymbol<int (*)(ReadWrite, clockid_t, const timespec*)> real_clockrdlock{
    "pthread_rwlock_clockrdlock"};
constinit NextSymbol<int (*)(ReadWrite)> real_wrlock{"pthread_rwlock_wrlock"};
constinit NextSymbol<int (*)(ReadWrite)> real_trywrlock{"pthread_rwlock_trywrlock"};
constinit NextSymbol<int (*)(ReadWrite, const timespec*)> real_timedwrlock{
    "pthread_rwlock_timedwrlock"};
constinit NextSymbol<int (*)(ReadWrite, clockid_t, const timespec*)> real_clockwrlock{
    "pthread_rwlock_clockwrlock"};

template <WaitKind Kind, auto& Try, auto& Real, typename... More>
int traced_rwlock(ReadWrite lock, More... more) {
  if (!is_valid(more...)) return Real(lock, more...);
  return lock_by<EBUSY>(
      __builtin_frame_address(0), Kind, lock, [=] { return Try(lock); },
      [=] { return writer_of(lock); }, [=] { return Real(lock, more...); }, outcome_of);
}

constinit NextSymbol<int (*)(pthread_spinlock_t*)> real_spin_lock{"pthread_spin_lock"};
constinit NextSymbol<int (*)(pthread_spinlock_t*)> real_spin_trylock{"pthread_spin_trylock"};

int traced_spin_lock(pthread_spinlock_t* lock) {
  return lock_by<EBUSY>(
      __builtin_frame_address(0), WaitKind::spin_lock, const_cast<const int*>(lock),
      [=] { return real_spin_trylock(lock); }, [] { return 0u; },
      [=] { return real_spin_lock(lock); }, outcome_of);
}

constinit NextSymbol<int (*)(pthread_cond_t*, pthread_mutex_t*)> real_cond_wait{
    "pthread_cond_wait"};
constinit NextSymbol<int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*)>
    real_cond_timedwait{"pthread_cond_timedwait"};
constinit NextSymbol<int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>
    real_cond_clockwait{"pthread_cond_clockwait"};
constinit NextSymbol<int (*)(pthread_cond_t*)> real_cond_signal{"pthread_cond_signal"};
constinit NextSymbol<int (*)(pthread_cond_t*)> real_cond_broadcast{"pthread_cond_broadcast"};

// The time until the mutex is the caller's again is part of it.
template <auto& Real, typename... More>
int traced_cond(pthread_cond_t* condition, pthread_mutex_t* lock, More... more) {
  return traced_wait(
      GNOMON_OWN_CALL(), {WaitKind::condition, condition, 0},
      [&] { return Real(condition, lock, more...); }, outcome_of);
}

// Before the call: who waits may run before that returns.
template <auto& Real>
int traced_wake(pthread_cond_t* condition) {
  note_release(condition);
  return Real(condition);
}

constinit NextSymbol<int (*)(pthread_barrier_t*)> real_barrier_wait{"pthread_barrier_wait"};

// Who comes last ends the wait of the others.
int traced_barrier_wait(pthread_barrier_t* barrier) {
  note_release(barrier);
  return traced_wait(
      GNOMON_OWN_CALL(), {WaitKind::barrier, barrier, 0},
      [&] { return real_barrier_wait(barrier); }, outcome_of);
}

// A thread's CPU clock has its number in it (clock_getcpuclockid(3), glibc).
std::uint32_t number_of(pthread_t thread) {
  clockid_t clock = 0;
  if (!pthread_getcpuclockid || pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return static_cast<std::uint32_t>(~(clock >> 3));
}

constinit NextSymbol<int (*)(pthread_t, void**)> real_join{"pthread_join"};
constinit NextSymbol<int (*)(pthread_t, void**, const timespec*)> real_timedjoin{
    "pthread_timedjoin_np"};
constinit NextSymbol<int (*)(pthread_t, void**, clockid_t, const timespec*)> real_clockjoin{
    "pthread_clockjoin_np"};

template <auto& Real, typename... More>
int traced_join(pthread_t thread, void** result, More... more) {
  return traced_wait(
      GNOMON_OWN_CALL(), {WaitKind::join, reinterpret_cast<const void*>(thread), number_of(thread)},
      [&] { return Real(thread, result, more...); }, outcome_of);
}

constinit NextSymbol<int (*)(sem_t*)> real_sem_wait{"sem_wait"};
constinit NextSymbol<int (*)(sem_t*)> real_sem_trywait{"sem_trywait"};
constinit NextSymbol<int (*)(sem_t*, const timespec*)> real_sem_timedwait{"sem_timedwait"};
constinit NextSymbol<int (*)(sem_t*, clockid_t, const timespec*)> real_sem_clockwait{
    "sem_clockwait"};
constinit NextSymbol<int (*)(sem_t*)> real_sem_post{"sem_post"};

constinit NextSymbol<void (*)()> real_testcancel{"pthread_testcancel"};

// Semaphores say why in errno, which is the program's where they succeed. Waiting for one is a
// point of cancellation also where it is free.
template <auto& Real, typename... More>
int traced_sem(sem_t* semaphore, More... more) {
  if (!is_valid(more...)) return Real(semaphore, more...);
  real_testcancel();
  const auto attempt = [=] {
    const int saved_errno = errno;
    const int tried = real_sem_trywait(semaphore);
    if (tried == 0 || errno != EAGAIN) return tried;
    errno = saved_errno;
    return EBUSY;
  };
  return lock_by<EBUSY>(
      __builtin_frame_address(0), WaitKind::semaphore, semaphore, attempt, [] { return 0u; },
      [=] { return Real(semaphore, more...); }, outcome_of_sem);
}

int traced_sem_post(sem_t* semaphore) {
  note_release(semaphore);
  return real_sem_post(semaphore);
}

constinit NextSymbol<int (*)(mtx_t*)> real_mtx_lock{"mtx_lock"};
constinit NextSymbol<int (*)(mtx_t*)> real_mtx_trylock{"mtx_trylock"};
constinit NextSymbol<int (*)(mtx_t*, const timespec*)> real_mtx_timedlock{"mtx_timedlock"};
constinit NextSymbol<int (*)(cnd_t*, mtx_t*)> real_cnd_wait{"cnd_wait"};
constinit NextSymbol<int (*)(cnd_t*, mtx_t*, const timespec*)> real_cnd_timedwait{"cnd_timedwait"};
constinit NextSymbol<int (*)(cnd_t*)> real_cnd_signal{"cnd_signal"};
constinit NextSymbol<int (*)(cnd_t*)> real_cnd_broadcast{"cnd_broadcast"};
constinit NextSymbol<int (*)(thrd_t, int*)> real_thrd_join{"thrd_join"};

// glibc's mtx_t is a pthread_mutex_t.
template <auto& Real, typename... More>
int traced_mtx(mtx_t* lock, More... more) {
  return lock_by<thrd_busy>(
      __builtin_frame_address(0), WaitKind::mutex, lock, [=] { return real_mtx_trylock(lock); },
      [=] { return owner_of(reinterpret_cast<const pthread_mutex_t*>(lock)); },
      [=] { return Real(lock, more...); }, outcome_of_c11);
}

template <auto& Real, typename... More>
int traced_cnd(cnd_t* condition, mtx_t* lock, More... more) {
  return traced_wait(
      GNOMON_OWN_CALL(), {WaitKind::condition, condition, 0},
      [&] { return Real(condition, lock, more...); }, outcome_of_c11);
}

template <auto& Real>
int traced_cnd_wake(cnd_t* condition) {
  note_release(condition);
  return Real(condition);
}

int traced_thrd_join(thrd_t thread, int* result) {
  return traced_wait(
      GNOMON_OWN_CALL(), {WaitKind::join, reinterpret_cast<const void*>(thread), number_of(thread)},
      [&] { return real_thrd_join(thread, result); }, outcome_of_c11);
}

#define GNOMON_SYNC(name, function, next)   \
  constexpr auto* hooked_##name = function; \
  GNOMON_TRACED(HookGroup::sync, hooked_##name, next)

GNOMON_NEEDED(HookGroup::sync, real_mutex_trylock);
GNOMON_NEEDED(HookGroup::sync, real_mutex_unlock);
GNOMON_NEEDED(HookGroup::sync, real_tryrdlock);
GNOMON_NEEDED(HookGroup::sync, real_trywrlock);
GNOMON_NEEDED(HookGroup::sync, real_spin_trylock);
GNOMON_NEEDED(HookGroup::sync, real_sem_trywait);
GNOMON_NEEDED(HookGroup::sync, real_testcancel);
GNOMON_NEEDED(HookGroup::sync, real_mtx_trylock);
GNOMON_SYNC(mutex_lock, traced_mutex<real_mutex_lock>, real_mutex_lock);
GNOMON_SYNC(mutex_timedlock, (traced_mutex<real_mutex_timedlock, const timespec*>),
            real_mutex_timedlock);
GNOMON_SYNC(mutex_clocklock, (traced_mutex<real_mutex_clocklock, clockid_t, const timespec*>),
            real_mutex_clocklock);
GNOMON_SYNC(rdlock, (traced_rwlock<WaitKind::read_lock, real_tryrdlock, real_rdlock>), real_rdlock);
GNOMON_SYNC(timedrdlock,
            (traced_rwlock<WaitKind::read_lock, real_tryrdlock, real_timedrdlock, const timespec*>),
            real_timedrdlock);
GNOMON_SYNC(clockrdlock,
            (traced_rwlock<WaitKind::read_lock, real_tryrdlock, real_clockrdlock, clockid_t,
                           const timespec*>),
            real_clockrdlock);
GNOMON_SYNC(wrlock, (traced_rwlock<WaitKind::write_lock, real_trywrlock, real_wrlock>),
            real_wrlock);
GNOMON_SYNC(
    timedwrlock,
    (traced_rwlock<WaitKind::write_lock, real_trywrlock, real_timedwrlock, const timespec*>),
    real_timedwrlock);
GNOMON_SYNC(clockwrlock,
            (traced_rwlock<WaitKind::write_lock, real_trywrlock, real_clockwrlock, clockid_t,
                           const timespec*>),
            real_clockwrlock);
GNOMON_SYNC(spin_lock, traced_spin_lock, real_spin_lock);
GNOMON_SYNC(cond_wait, traced_cond<real_cond_wait>, real_cond_wait);
GNOMON_SYNC(cond_timedwait, (traced_cond<real_cond_timedwait, const timespec*>),
            real_cond_timedwait);
GNOMON_SYNC(cond_clockwait, (traced_cond<real_cond_clockwait, clockid_t, const timespec*>),
            real_cond_clockwait);
GNOMON_SYNC(cond_signal, traced_wake<real_cond_signal>, real_cond_signal);
GNOMON_SYNC(cond_broadcast, traced_wake<real_cond_broadcast>, real_cond_broadcast);
GNOMON_SYNC(barrier_wait, traced_barrier_wait, real_barrier_wait);
GNOMON_SYNC(join, traced_join<real_join>, real_join);
GNOMON_SYNC(timedjoin, (traced_join<real_timedjoin, const timespec*>), real_timedjoin);
GNOMON_SYNC(clockjoin, (traced_join<real_clockjoin, clockid_t, const timespec*>), real_clockjoin);
GNOMON_SYNC(sem_wait, traced_sem<real_sem_wait>, real_sem_wait);
GNOMON_SYNC(sem_timedwait, (traced_sem<real_sem_timedwait, const timespec*>), real_sem_timedwait);
GNOMON_SYNC(sem_clockwait, (traced_sem<real_sem_clockwait, clockid_t, const timespec*>),
            real_sem_clockwait);
GNOMON_SYNC(sem_post, traced_sem_post, real_sem_post);
GNOMON_SYNC(mtx_lock, traced_mtx<real_mtx_lock>, real_mtx_lock);
GNOMON_SYNC(mtx_timedlock, (traced_mtx<real_mtx_timedlock, const timespec*>), real_mtx_timedlock);
GNOMON_SYNC(cnd_wait, traced_cnd<real_cnd_wait>, real_cnd_wait);
GNOMON_SYNC(cnd_timedwait, (traced_cnd<real_cnd_timedwait, const timespec*>), real_cnd_timedwait);
GNOMON_SYNC(cnd_signal, traced_cnd_wake<real_cnd_signal>, real_cnd_signal);
GNOMON_SYNC(cnd_broadcast, traced_cnd_wake<real_cnd_broadcast>, real_cnd_broadcast);
GNOMON_SYNC(thrd_join, traced_thrd_join, real_thrd_join);

}  // namespace

std::uint64_t uncontended_lock_time() {
  constexpr int kCalls = 1000;
  if (!real_mutex_lock.get() || !real_mutex_unlock.get()) return 0;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const std::uint64_t before = now(CLOCK_MONOTONIC);
  for (int i = 0; i < kCalls; ++i) {
    real_mutex_lock(&lock);
    real_mutex_unlock(&lock);
  }
  return (now(CLOCK_MONOTONIC) - before) / kCalls;
}

}  // namespace gnomon::collector
