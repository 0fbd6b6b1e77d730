// Threads that come, go and are cancelled, exceptions that pass through libc, and libraries that
// come and go beside them.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/targets/hostile/rows.h"

namespace hostile {
namespace {

void crowd(Findings& findings) {
  std::atomic<long> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 24; ++i)
    threads.emplace_back([&done] {
      work(400);
      ++done;
    });
  for (std::thread& thread : threads) thread.join();
  find(findings, "threads that have worked", done);
}

// Calls in which threads wait until they are cancelled.
struct Waited {
  int pipe[2];
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  sem_t nothing;
  std::atomic<int> waiting = 0, cleaned = 0;
};

void unlocks(void* argument) {
  Waited& waited = *static_cast<Waited*>(argument);
  ++waited.cleaned;
  pthread_mutex_unlock(&waited.lock);
}

void* in_read(void* argument) {
  Waited& waited = *static_cast<Waited*>(argument);
  char byte = 0;
  ++waited.waiting;
  return read(waited.pipe[0], &byte, 1) == 1 ? argument : nullptr;
}

void* in_condition(void* argument) {
  Waited& waited = *static_cast<Waited*>(argument);
  pthread_mutex_lock(&waited.lock);
  pthread_cleanup_push(unlocks, argument);
  ++waited.waiting;
  for (;;) pthread_cond_wait(&waited.never, &waited.lock);
  pthread_cleanup_pop(1);
}

void* in_semaphore(void* argument) {
  Waited& waited = *static_cast<Waited*>(argument);
  ++waited.waiting;
  sem_wait(&waited.nothing);
  return argument;
}

void* in_pause(void* argument) {
  ++static_cast<Waited*>(argument)->waiting;
  usleep(60'000'000);
  return argument;
}

void cancelled(Findings& findings) {
  Waited waited;
  if (pipe(waited.pipe) != 0) _exit(91);
  sem_init(&waited.nothing, 0, 0);
  std::vector<pthread_t> threads;
  for (int i = 0; i < 3; ++i)
    for (const auto in : {in_read, in_condition, in_semaphore, in_pause}) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, in, &waited) != 0) _exit(92);
      threads.push_back(thread);
    }
  while (waited.waiting < static_cast<int>(threads.size())) usleep(100);
  long ended = 0;
  for (const pthread_t thread : threads) pthread_cancel(thread);
  for (const pthread_t thread : threads) {
    void* result = nullptr;
    ended += pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED;
  }
  find(findings, "cancelled", ended);
  find(findings, "cleaned up", waited.cleaned);
  find(findings, "lock is taken", pthread_mutex_trylock(&waited.lock));
  work(10);
  close(waited.pipe[0]);
  close(waited.pipe[1]);
}

ssize_t throws(void*, char*, std::size_t) { throw std::runtime_error("from a stream"); }

// libc's part of a stream and of a mutual exclusion is passed by the exception.
void exceptions(Findings& findings) {
  long caught = 0;
  FILE* const stream = fopencookie(nullptr, "r", {throws, nullptr, nullptr, nullptr});
  for (int i = 0; i < 5; ++i) try {
      std::fgetc(stream);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  std::fclose(stream);
  find(findings, "thrown through a stream", caught);
  std::once_flag once;
  std::atomic<long> tries = 0, seen = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      try {
        std::call_once(once, [&tries] {
          work(20);
          if (++tries < 4) throw std::runtime_error("from the first call");
        });
      } catch (const std::runtime_error&) {
        ++seen;
      }
    });
  for (std::thread& thread : threads) thread.join();
  find(findings, "tries of a first call", tries);
  find(findings, "thrown by a first call", seen);
}

void libraries(Findings& findings) {
  std::atomic<bool> over = false;
  std::thread other([&over] {
    while (!over) work(50);
  });
  long sum = 0;
  for (int i = 0; i < 15; ++i) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    std::string name(path, static_cast<std::size_t>(length > 0 ? length : 0));
    void* const library =
        dlopen((name.substr(0, name.rfind('/')) + "/storm_library.so").c_str(), RTLD_NOW);
    if (!library) _exit(93);
    sum += reinterpret_cast<long (*)(int)>(dlsym(library, "works"))(20) != 0;
    dlclose(library);
  }
  over = true;
  other.join();
  find(findings, "libraries that have worked", sum);
}

constexpr Row kRows[] = {{"crowd", crowd},
                         {"cancelled", cancelled},
                         {"exceptions", exceptions},
                         {"libraries", libraries}};

}  // namespace

std::span<const Row> rows_of_threads() { return kRows; }

}  // namespace hostile
