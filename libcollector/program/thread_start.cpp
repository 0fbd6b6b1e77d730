// Interposed: the functions that create threads, and __libc_start_main, in every version that glibc
// exports, so that each thread runs under collector_root and with a clock. Normal context.
#include "libcollector/program/thread_start.h"

#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <cstdint>

#include "libcollector/core/own_code.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/session/session.h"
#include "libcollector/session/threads.h"

extern "C" {
// The linker's names for the bounds of the sections of collector_root and run_main.
extern const char __start_gnomon_root[] __attribute__((visibility("hidden")));  // NOLINT
extern const char __stop_gnomon_root[] __attribute__((visibility("hidden")));   // NOLINT
extern const char __start_gnomon_main[] __attribute__((visibility("hidden")));  // NOLINT
extern const char __stop_gnomon_main[] __attribute__((visibility("hidden")));   // NOLINT
}

namespace gnomon::collector {
namespace {

using Main = int (*)(int, char**, char**);
using StartC11 = int (*)(void*);
using CreateC11 = int (*)(thrd_t*, StartC11, void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, StartRoutine, void*);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

constinit NextSymbol<Create> real_create{"pthread_create", "GLIBC_2.34"};
constinit NextSymbol<Create> real_old_create{"pthread_create", "GLIBC_2.2.5"};
constinit NextSymbol<CreateC11> real_create_c11{"thrd_create", "GLIBC_2.34"};
constinit NextSymbol<CreateC11> real_old_create_c11{"thrd_create", "GLIBC_2.28"};

constinit Main program_main = nullptr;

template <typename To, typename From>
To function_cast(From* from) {
  return reinterpret_cast<To>(reinterpret_cast<void*>(from));
}

[[gnu::section("gnomon_main"), gnu::noinline]] int run_main(int argc, char** argv, char** envp) {
  const int status = program_main(argc, argv, envp);
  asm volatile("" ::: "memory");  // keeps the call from becoming a jump
  return status;
}

// Determines the stack size without pthread_getattr_np, which allocates.
std::uint64_t stack_size(const pthread_attr_t* attributes, std::uint64_t& user_base) {
  std::size_t size = 0, guard = 0;
  void* base = nullptr;
  if (attributes && pthread_attr_getstack(attributes, &base, &size) == 0 &&
      reinterpret_cast<std::uint64_t>(base) + size != 0) {
    user_base = reinterpret_cast<std::uint64_t>(base);
    return size;
  }
  pthread_attr_t defaults;
  if (!attributes && pthread_attr_init(&defaults) == 0) attributes = &defaults;
  if (!attributes) return 0;
  pthread_attr_getstacksize(attributes, &size);
  pthread_attr_getguardsize(attributes, &guard);
  if (attributes == &defaults) pthread_attr_destroy(&defaults);
  return size > guard ? size - guard : 0;
}

// glibc puts the thread's descriptor, to which pthread_self points, at the top of its stack.
ByteRange stack_of_caller(std::uint64_t user_base, std::uint64_t size) {
  const auto self = static_cast<std::uint64_t>(pthread_self());
  return {user_base ? user_base : self + 4096 - size, self};
}

ByteRange range_of(const char* begin, const char* end) {
  return {reinterpret_cast<std::uint64_t>(begin), reinterpret_cast<std::uint64_t>(end)};
}

}  // namespace

Roots program_roots() {
  return {range_of(__start_gnomon_main, __stop_gnomon_main),
          range_of(__start_gnomon_root, __stop_gnomon_root), own_code()};
}

namespace {

void begin_in_thread(Thread& thread) {
  name_thread(thread, static_cast<std::uint32_t>(gettid()));
  thread.stack = stack_of_caller(thread.stack.begin, thread.stack.end);
  if (active_recorder())
    begin_thread(thread);
  else
    release_thread(thread);  // a later recording finds this thread among those that run already
}

}  // namespace

// Also runs routines that return int: their caller uses the lower half of the same register (System
// V ABI, "Returning of Values").
extern "C" [[gnu::section("gnomon_root"), gnu::noinline, gnu::visibility("hidden")]] void*
collector_root(void* slot) {
  auto& thread = *static_cast<Thread*>(slot);
  const StartRoutine routine = thread.routine;
  void* const argument = thread.argument;
  begin_in_thread(thread);
  void* result = routine(argument);
  asm volatile("" ::: "memory");  // keeps the call from becoming a jump
  return result;
}

namespace {

// Returns a slot for a thread that is about to be created, or null if it is to run unsampled.
Thread* slot_for(const pthread_attr_t* attributes, StartRoutine routine, void* argument) {
  Recorder* recorder = active_recorder();
  if (recorder) forget_ended_threads();
  Thread* thread = recorder ? claim_thread() : nullptr;
  if (!thread) {
    if (recorder) recorder->drop(format::Drop::threads_full);
    return nullptr;
  }
  thread->routine = routine;
  thread->argument = argument;
  thread->mask_emulated = 0;  // see adopt_mask
  // Until the thread runs: the stack address that the caller asked for (0: any) and the size.
  thread->stack = {};
  thread->stack.end = stack_size(attributes, thread->stack.begin);
  return thread;
}

int create(Create real, pthread_t* id, const pthread_attr_t* attributes, StartRoutine routine,
           void* argument) {
  const Blocked as_believed(emulated_mask());
  Thread* thread = slot_for(attributes, routine, argument);
  if (!thread) return real(id, attributes, routine, argument);
  const int error = real(id, attributes, collector_root, thread);
  if (error != 0) release_thread(*thread);
  return error;
}

int create_c11(CreateC11 real, thrd_t* id, StartC11 routine, void* argument) {
  const Blocked as_believed(emulated_mask());
  Thread* thread = slot_for(nullptr, function_cast<StartRoutine>(routine), argument);
  if (!thread) return real(id, routine, argument);
  const int result = real(id, function_cast<StartC11>(collector_root), thread);
  if (result != thrd_success) release_thread(*thread);
  return result;
}

int start_main(StartMain real, Main main, int argc, char** argv, void (*init)(), void (*fini)(),
               void (*rtld_fini)(), void* stack_end) {
  program_main = main;
  return real(active_recorder() ? run_main : main, argc, argv, init, fini, rtld_fini, stack_end);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"), symver("pthread_create@@GLIBC_2.34"))) int
pthread_create_2_34(pthread_t* id, const pthread_attr_t* attributes, StartRoutine routine,
                    void* argument) {
  return create(real_create.get(), id, attributes, routine, argument);
}

__attribute__((visibility("default"), symver("pthread_create@GLIBC_2.2.5"))) int
pthread_create_2_2_5(pthread_t* id, const pthread_attr_t* attributes, StartRoutine routine,
                     void* argument) {
  return create(real_old_create.get(), id, attributes, routine, argument);
}

__attribute__((visibility("default"), symver("thrd_create@@GLIBC_2.34"))) int thrd_create_2_34(
    thrd_t* id, StartC11 routine, void* argument) {
  return create_c11(real_create_c11.get(), id, routine, argument);
}

__attribute__((visibility("default"), symver("thrd_create@GLIBC_2.28"))) int thrd_create_2_28(
    thrd_t* id, StartC11 routine, void* argument) {
  return create_c11(real_old_create_c11.get(), id, routine, argument);
}

__attribute__((visibility("default"), symver("__libc_start_main@@GLIBC_2.34"))) int
libc_start_main_2_34(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                     void (*rtld_fini)(), void* stack_end) {
  return start_main(NextSymbol<StartMain>{"__libc_start_main", "GLIBC_2.34"}.get(), main, argc,
                    argv, init, fini, rtld_fini, stack_end);
}

__attribute__((visibility("default"), symver("__libc_start_main@GLIBC_2.2.5"))) int
libc_start_main_2_2_5(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  return start_main(NextSymbol<StartMain>{"__libc_start_main", "GLIBC_2.2.5"}.get(), main, argc,
                    argv, init, fini, rtld_fini, stack_end);
}
}

namespace {

GNOMON_HOOK(pthread_create_2_34, real_create);
GNOMON_HOOK(pthread_create_2_2_5, real_old_create);
GNOMON_HOOK(thrd_create_2_34, real_create_c11);
GNOMON_HOOK(thrd_create_2_28, real_old_create_c11);

}  // namespace

}  // namespace gnomon::collector
