// Interposed: the functions that create threads, and __libc_start_main, in every version that glibc
// exports, so that each thread begins with a clock, and its stack is known to end where it returns
// to libc. They jump on: no frame of the collector's stands below the program's. Normal context.
#include "libcollector/program/thread_start.h"

#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <cstdint>

#include "libcollector/clock/threads.h"
#include "libcollector/core/own_code.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/jump_after.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/target/recording.h"

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
// Of a program that ran before the collector came, some threads would have a root and others not.
constinit bool has_roots = false;
constinit Roots roots{};

template <typename To, typename From>
To function_cast(From* from) {
  return reinterpret_cast<To>(reinterpret_cast<void*>(from));
}

// All returns of a kind are in one function of libc.
void add(ByteRange& root, std::uint64_t code) {
  constexpr std::uint64_t kFunction = 4096;  // bytes
  const auto begin = atomic(root.begin), end = atomic(root.end);
  if (begin.load() == 0) {
    begin.store(code);
    end.store(code + 1);
  } else if (code < begin.load() && end.load() - code < kFunction) {
    begin.store(code);
  } else if (code >= end.load() && code - begin.load() < kFunction) {
    end.store(code + 1);
  }
}

void note_root(ByteRange Roots::*root, std::uint64_t return_address) {
  const std::uint64_t code = return_address - 1;
  const bool is_known = root == &Roots::kept ? roots.is_kept(code) : roots.is_silent(code);
  if (!has_roots || is_known) return;
  add(roots.*root, code);
  if (const Recorder* recorder = active_recorder())
    add(as_roots(recorder->control()->roots).*root, code);
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

void begin_in_thread(Thread& thread) {
  name_thread(thread, static_cast<std::uint32_t>(gettid()));
  thread.stack = stack_of_caller(thread.stack.begin, thread.stack.end);
  if (active_recorder())
    begin_sampled(thread);
  else
    release_thread(thread);  // a later recording finds this thread among those that run already
}

}  // namespace

// What a naked function jumps to, and with what.
struct Onward {
  void* function;
  void* argument;
};

// The thread's slot becomes its argument. As a jump it also stands in for routines that return int.
extern "C" [[gnu::used, gnu::visibility("hidden")]] Onward gnomon_before_thread(
    void* slot, void*, void*, std::uint64_t return_address) {
  auto& thread = *static_cast<Thread*>(slot);
  const Onward onward{function_cast<void*>(thread.routine), thread.argument};
  note_root(&Roots::kept, return_address);
  begin_in_thread(thread);
  return onward;
}

extern "C" [[gnu::naked, gnu::used, gnu::visibility("hidden")]] void* collector_root(void*) {
  GNOMON_JUMP(GNOMON_WITH_RETURN, "gnomon_before_thread", GNOMON_OTHER_ARGUMENT);
}

extern "C" [[gnu::used, gnu::visibility("hidden")]] Main gnomon_before_main(
    int, char**, char**, std::uint64_t return_address) {
  note_root(&Roots::silent, return_address);
  return program_main;
}

extern "C" [[gnu::naked, gnu::used, gnu::visibility("hidden")]] int collector_main(int, char**,
                                                                                   char**) {
  GNOMON_JUMP(GNOMON_WITH_RETURN, "gnomon_before_main", "");
}

const Roots& program_roots() {
  roots.hidden = own_code();
  roots.kept_as = reinterpret_cast<std::uint64_t>(collector_root);
  return roots;
}

void begin_sampled(Thread& thread) {
  own_slot(thread);
  adopt_mask();
  begin_clock(thread);
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

Onward start_main(NextSymbol<StartMain> real, Main main) {
  program_main = main;
  has_roots = active_recorder() != nullptr;
  return {function_cast<void*>(real.get()),
          function_cast<void*>(has_roots ? collector_main : main)};
}

}  // namespace

extern "C" [[gnu::used, gnu::visibility("hidden")]] Onward gnomon_before_start_2_34(Main main) {
  return start_main(NextSymbol<StartMain>("__libc_start_main", "GLIBC_2.34"), main);
}
extern "C" [[gnu::used, gnu::visibility("hidden")]] Onward gnomon_before_start_2_2_5(Main main) {
  return start_main(NextSymbol<StartMain>("__libc_start_main", "GLIBC_2.2.5"), main);
}

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

__attribute__((naked, visibility("default"), symver("__libc_start_main@@GLIBC_2.34"))) int
libc_start_main_2_34(Main, int, char**, void (*)(), void (*)(), void (*)(), void*) {
  GNOMON_JUMP("", "gnomon_before_start_2_34", GNOMON_OTHER_ARGUMENT);
}

__attribute__((naked, visibility("default"), symver("__libc_start_main@GLIBC_2.2.5"))) int
libc_start_main_2_2_5(Main, int, char**, void (*)(), void (*)(), void (*)(), void*) {
  GNOMON_JUMP("", "gnomon_before_start_2_2_5", GNOMON_OTHER_ARGUMENT);
}
}

namespace {

GNOMON_HOOK(pthread_create_2_34, real_create);
GNOMON_HOOK(pthread_create_2_2_5, real_old_create);
GNOMON_HOOK(thrd_create_2_34, real_create_c11);
GNOMON_HOOK(thrd_create_2_28, real_old_create_c11);

}  // namespace

}  // namespace gnomon::collector
