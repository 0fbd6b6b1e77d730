// Threads that come, go and are cancelled, exceptions that pass through libc, and libraries that
// come and go beside them.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
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

constexpr std::uint32_t kPlainRounding = 0x1f80;

// What a thread has in its registers.
struct Registers {
  alignas(32) unsigned char vectors[16][32];
  std::uint64_t general[7];
  std::uint32_t rounding;  // MXCSR
};
constexpr std::size_t kStored = offsetof(Registers, rounding) + sizeof(Registers::rounding);
static_assert(offsetof(Registers, general) == 512 && offsetof(Registers, rounding) == 568);

// Waits in a system call, with 1 as its third argument and these values in its registers. Returns
// what is in them then. The number stands before the call, as in libc.
template <long Number>
[[gnu::noinline]] Registers wait_with(const Registers& before, const void* first, void* second) {
  Registers after;
  std::int64_t result = 0;
  asm volatile(
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      "vmovdqu \\n*32(%[before]), %%ymm\\n\n"
      ".endr\n"
      "ldmxcsr 568(%[before])\n"
      "mov 512(%[before]), %%rdx\n"
      "mov 520(%[before]), %%r8\n"
      "mov 528(%[before]), %%r9\n"
      "mov 536(%[before]), %%r10\n"
      "mov 544(%[before]), %%r12\n"
      "mov 552(%[before]), %%r13\n"
      "mov 560(%[before]), %%r14\n"
      "mov %[number], %%eax\n"
      "syscall\n"
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      "vmovdqu %%ymm\\n, \\n*32(%[after])\n"
      ".endr\n"
      "stmxcsr 568(%[after])\n"
      "mov %%rdx, 512(%[after])\n"
      "mov %%r8, 520(%[after])\n"
      "mov %%r9, 528(%[after])\n"
      "mov %%r10, 536(%[after])\n"
      "mov %%r12, 544(%[after])\n"
      "mov %%r13, 552(%[after])\n"
      "mov %%r14, 560(%[after])\n"
      "ldmxcsr %[plain]\n"
      "vzeroupper\n"
      : "=&a"(result)
      : "D"(first), "S"(second), [before] "r"(&before), [after] "r"(&after),
        [plain] "m"(kPlainRounding), [number] "i"(Number)
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "memory");
  if (result < 0) std::memset(&after, 0, sizeof after);
  return after;
}

// Runs a thread that waits in read, and wakes it after each sleep. Adds to `changed` how often one
// of the two found other values in its registers.
void sleep_and_wake(std::atomic<long>& changed, unsigned pair) {
  static constexpr timespec kMoment{0, 200'000};
  int pipe[2];
  if (::pipe(pipe) != 0) _exit(91);
  char byte = 0;
  const auto work = [&](unsigned number) {
    Registers before{};
    auto* const bytes = reinterpret_cast<unsigned char*>(&before);
    for (std::size_t at = 0; at < offsetof(Registers, rounding); ++at)
      bytes[at] = static_cast<unsigned char>(at * 7 + pair * 2 + number);
    before.general[0] = 1;
    before.rounding = kPlainRounding | 0x2000UL * (pair * 2 + number);
    for (int round = 0; round < 150 && __builtin_cpu_supports("avx"); ++round) {
      const Registers after =
          number == 0
              ? wait_with<SYS_nanosleep>(before, &kMoment, nullptr)
              : wait_with<SYS_read>(before, std::bit_cast<void*>(std::intptr_t{pipe[0]}), &byte);
      changed += std::memcmp(&after, &before, kStored) != 0;
      if (number == 0 && write(pipe[1], "", 1) != 1) _exit(92);
    }
  };
  std::thread woken(work, 1);
  work(0);
  woken.join();
  close(pipe[0]);
  close(pipe[1]);
}

void registers(Findings& findings) {
  std::atomic<long> changed = 0;
  std::thread other(sleep_and_wake, std::ref(changed), 1);
  sleep_and_wake(changed, 0);
  other.join();
  find(findings, "changes of registers", changed);
}

constexpr Row kRows[] = {{"crowd", crowd},
                         {"registers", registers},
                         {"cancelled", cancelled},
                         {"exceptions", exceptions},
                         {"libraries", libraries}};

}  // namespace

std::span<const Row> rows_of_threads() { return kRows; }

}  // namespace hostile
