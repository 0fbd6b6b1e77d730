// Allocates by each function of the allocator, in ways that its argument names.
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define KEPT [[gnu::noinline]]

namespace {

void* volatile sink;

// Not what a signal handler has put there in between.
void free_soon(void* block) {
  sink = block;
  std::free(block);
}

// 100 allocations of 64 bytes, all freed.
KEPT void temporaries() {
  for (int i = 0; i < 100; ++i) {
    sink = std::malloc(64);
    std::free(sink);
  }
}

// 10 of 1000 bytes, leaked.
KEPT void leaks() {
  for (int i = 0; i < 10; ++i) sink = std::malloc(1000);
}

// 1 of 60 bytes, 20 of 100 to 2000, one left. A realloc that fails changes nothing.
KEPT void grows() {
  void* block = std::calloc(3, 20);
  for (std::size_t size = 100; size <= 2000; size += 100) block = std::realloc(block, size);
  const volatile std::size_t too_much = ~std::size_t{0} / 4;
  if (std::realloc(block, too_much)) std::abort();
  sink = block;
}

// 5 of 256 bytes, all freed.
KEPT void aligned() {
  void* block = nullptr;
  if (posix_memalign(&block, 64, 256) == 0) std::free(block);
  free_soon(std::aligned_alloc(64, 256));
  free_soon(memalign(64, 256));
  free_soon(valloc(256));
  free_soon(reallocarray(nullptr, 16, 16));
}

// By libraries: 6 bytes by libc, 32 by libstdc++, freed.
KEPT void by_libraries() {
  free_soon(strdup("hello"));
  sink = new char[32];
  delete[] static_cast<char*>(sink);
}

KEPT void all() {
  temporaries();
  leaks();
  grows();
  aligned();
  by_libraries();
}

// Blocks that one thread allocates and the next one frees; the last leaves 1 block of 10.
KEPT void* pass_on(void* blocks) {
  auto& from = *static_cast<std::vector<void*>*>(blocks);
  for (void*& block : from) {
    std::free(block);
    block = std::malloc(48);
  }
  return nullptr;
}

void in_threads() {
  std::vector<void*> blocks(10, nullptr);
  for (int i = 0; i < 50; ++i) {
    pthread_t thread{};
    pthread_create(&thread, nullptr, pass_on, &blocks);
    pthread_join(thread, nullptr);
  }
  for (std::size_t i = 1; i < blocks.size(); ++i) std::free(blocks[i]);
}

KEPT void in_child() {
  all();
  if (const pid_t child = fork(); child == 0) {
    for (int i = 0; i < 500; ++i) sink = std::malloc(77);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  temporaries();
}

sigjmp_buf outside;
volatile sig_atomic_t signals = 0, may_leave = 0;

KEPT void in_handler(int) {
  free_soon(std::malloc(16));
  signals = signals + 1;
  if (may_leave && signals % 4 == 0) siglongjmp(outside, 1);
}

KEPT void deep(int depth) {
  if (depth > 0) {
    deep(depth - 1);
  } else {
    for (int i = 0; i < 50; ++i) free_soon(std::malloc(32));
  }
  asm volatile("");
}

// On an alternate stack that is part of an outer frame, with a handler that allocates and leaves
// what it has interrupted. The allocator of the library `bump` allows it. On a busy machine signals
// come faster than handlers return, so there is room for hundreds of them.
void in_handlers(bool leaves) {
  alignas(16) char memory[1024 * 1024];
  const stack_t stack{memory, 0, sizeof memory};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = in_handler;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (signals < 2000) {
    if (sigsetjmp(outside, 1) != 0) continue;
    may_leave = leaves;
    for (int i = 0; i < 40; ++i) deep(i);
  }
  const itimerval never{};
  may_leave = 0;
  setitimer(ITIMER_REAL, &never, nullptr);
}

ucontext_t outside_fibers, fibers[2];

KEPT void fiber(int number) {
  for (int i = 0; i < 10; ++i) {
    temporaries();
    swapcontext(&fibers[number], number == 0 ? &fibers[1] : &outside_fibers);
  }
}

// Stacks of the program's own, which take turns: 2000 allocations.
void in_fibers() {
  static char stacks[2][64 * 1024];
  for (int number = 0; number < 2; ++number) {
    getcontext(&fibers[number]);
    fibers[number].uc_stack = {stacks[number], 0, sizeof stacks[number]};
    fibers[number].uc_link = &outside_fibers;
    makecontext(&fibers[number], reinterpret_cast<void (*)()>(fiber), 1, number);
  }
  for (int i = 0; i < 10; ++i) swapcontext(&outside_fibers, &fibers[0]);
}

// 200 000 of 200 bytes, of which each hundredth leaks.
KEPT void many() {
  for (int i = 0; i < 200'000; ++i) {
    void* const block = std::malloc(200);
    sink = block;
    if (i % 100 != 0) std::free(block);
  }
}

// More threads at once than there are lanes. Each allocates three blocks of 100 bytes twice, and
// leaks one of them.
KEPT void each_in_crowd() {
  for (int i = 0; i < 3; ++i) {
    void* const block = std::malloc(100);
    sink = block;
    if (i != 0) std::free(block);
  }
}

KEPT void crowd() {
  constexpr int kThreads = 4200;
  static pthread_barrier_t all_are_there;
  pthread_barrier_init(&all_are_there, nullptr, kThreads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  static pthread_t threads[kThreads];
  for (pthread_t& thread : threads)
    if (pthread_create(
            &thread, &attributes,
            [](void*) -> void* {
              each_in_crowd();
              pthread_barrier_wait(&all_are_there);
              each_in_crowd();
              return nullptr;
            },
            nullptr) != 0)
      std::exit(9);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

// Until it is killed or told to end.
void until_told() {
  std::puts("ready");
  std::fflush(stdout);
  const timespec moment{0, 1'000'000};
  while (!std::getenv("NEVER")) {
    for (int i = 0; i < 10; ++i) temporaries();
    if (access("enough", F_OK) == 0) break;
    nanosleep(&moment, nullptr);
  }
  leaks();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  if (what == "all") all();
  if (what == "threads") in_threads();
  if (what == "child") in_child();
  if (what == "handlers") in_handlers(false);
  if (what == "longjmp") in_handlers(true);
  if (what == "fibers") in_fibers();
  if (what == "many") many();
  if (what == "crowd") crowd();
  if (what == "told") until_told();
}
