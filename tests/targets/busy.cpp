// Does what its argument names, over and over in that many threads, and checks itself, until its
// standard input ends. No thread ever waits for long. Exit status 0 and "right": nothing went
// wrong; 1 and a word: it did.
#include <dlfcn.h>
#include <immintrin.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/targets/burn.h"
#include "tests/targets/longest_gap.h"

namespace {

std::string here;  // the directory of this program

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  _exit(1);
}

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state >> 33;
}

// Locals in the red zone, no calls.
[[gnu::noipa]] std::uint64_t leaf(std::uint64_t seed) {
  volatile std::uint64_t words[12];
  for (std::uint64_t i = 0; i < 12; ++i) words[i] = seed + i;
  std::uint64_t sum = 0;
  for (int round = 0; round < 1000; ++round)
    for (int i = 0; i < 12; ++i) sum = sum * 31 + words[i];
  for (std::uint64_t i = 0; i < 12; ++i) sum ^= words[i] ^ (seed + i);
  return sum;
}
void computes() {
  static const std::uint64_t expected = leaf(7);
  for (int i = 0; i < 100; ++i) check(leaf(7) == expected, "checksum");
}

// AVX-512 registers and masks that live through a long loop.
[[gnu::target("avx512f")]] bool keeps_vectors() {
  const __m512i a = _mm512_set1_epi64(0x1122334455667788),
                b = _mm512_set1_epi64(-0x6655443322110100);
  __m512i x = a, y = b;
  __mmask16 m = 0x5a5a, n = 0x1234;
  std::uint64_t count = 2'000'000;
  asm volatile("1: dec %0; jnz 1b" : "+r"(count), "+v"(x), "+v"(y), "+Yk"(m), "+Yk"(n)::"cc");
  return _mm512_cmpneq_epi64_mask(x, a) == 0 && _mm512_cmpneq_epi64_mask(y, b) == 0 &&
         m == 0x5a5a && n == 0x1234;
}
void uses_vectors() {
  if (__builtin_cpu_supports("avx512f"))
    check(keeps_vectors(), "vector registers");
  else
    computes();
}

void allocates() {
  thread_local std::vector<std::pair<unsigned char*, std::size_t>> blocks(64);
  thread_local std::uint64_t state = static_cast<std::uint64_t>(gettid());
  for (int i = 0; i < 2000; ++i) {
    auto& [block, bytes] = blocks[next(state) % blocks.size()];
    for (std::size_t k = 0; k < bytes; k += 61)
      check(block[k] == static_cast<unsigned char>(bytes), "block");
    std::free(block);
    bytes = 1 + next(state) % (next(state) % 8 ? 400 : 40'000);
    block = static_cast<unsigned char*>(std::malloc(bytes));
    check(block != nullptr, "malloc");
    std::memset(block, static_cast<unsigned char>(bytes), bytes);
  }
}

void loads() {
  void* library = dlopen((here + "/libplugin_a.so").c_str(), RTLD_NOW);
  check(library && dlsym(library, "work_of_a"), "dlopen");
  check(dlclose(library) == 0, "dlclose");
}

void ends_with(pid_t child, int wanted) {
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  check(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == wanted, "child");
}
void forks() {
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    std::free(std::malloc(100));
    _exit(7);
  }
  ends_with(child, 7);
}
void vforks() {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(9);
  }
  check(child > 0, "vfork");
  ends_with(child, 0);
}
void spawns() {
  pid_t child = 0;
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  check(posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) == 0, "posix_spawn");
  ends_with(child, 0);
}

// Short system calls: a thread is behind one as often as in it.
void transfers() {
  thread_local int ends[2] = {-1, -1};
  if (ends[0] < 0) check(pipe(ends) == 0, "pipe");
  for (unsigned char i = 0; i < 200; ++i) {
    unsigned char out[64], in[sizeof out] = {};
    std::memset(out, i, sizeof out);
    check(write(ends[1], out, sizeof out) == sizeof out, "write");
    check(read(ends[0], in, sizeof in) == sizeof in && std::memcmp(in, out, sizeof in) == 0,
          "read");
  }
}

void makes_threads() {
  int value = 0;
  std::thread([&] { value = 5; }).join();
  check(value == 5, "thread");
}

void prints() {
  static FILE* const nowhere = std::fopen("/dev/null", "w");
  for (int i = 0; i < 200; ++i)
    check(std::fprintf(nowhere, "%d %s %f\n", i, "text", 0.5) > 0, "fprintf");
}

// Handlers that interrupt malloc and compute, on an alternate stack of 4 KiB.
std::atomic<int> handled = 0;
bool calls_on_small_stack(void (*handler)(int), clockid_t clock, long period) {
  constexpr std::size_t kStack = 4096;
  auto* memory =
      static_cast<char*>(mmap(nullptr, 3 * kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + kStack, kStack, PROT_READ | PROT_WRITE);
  stack_t stack{};
  stack.ss_sp = memory + kStack;
  stack.ss_size = kStack;
  check(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  timer_t timer{};
  const itimerspec often{{0, period}, {0, period}};
  return timer_create(clock, &event, &timer) == 0 && timer_settime(timer, 0, &often, nullptr) == 0;
}
void handles() {
  constexpr auto kHandler = [](int) {
    check(leaf(handled % 3) == leaf(handled % 3), "handler");
    ++handled;
  };
  static const bool ready = calls_on_small_stack(kHandler, CLOCK_MONOTONIC, 5'000'000);
  check(ready, "timer");
  allocates();
}
// Long enough for ticks to be due in it: half of the CPU time, however slow the machine is. The
// clock's function is known before, as the handler has no room for the loader to look it up.
void handles_for_long() {
  static const std::uint64_t expected = leaf(3);
  constexpr auto kHandler = [](int) {
    for (const double end = cpu_time() + 0.015; cpu_time() < end;)
      check(leaf(3) == expected, "handler");
  };
  static const bool ready =
      cpu_time() > 0 && calls_on_small_stack(kHandler, CLOCK_PROCESS_CPUTIME_ID, 30'000'000);
  check(ready, "timer");
  allocates();
}

// Computes, with a handler now and then.
void is_called() {
  static const bool ready = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { ++handled; };
    sigaction(SIGVTALRM, &action, nullptr);
    const itimerval often{{0, 200'000}, {0, 200'000}};
    return setitimer(ITIMER_VIRTUAL, &often, nullptr) == 0;
  }();
  check(ready, "setitimer");
  computes();
}

// Threads that wait for SIGPROF, and are woken by other signals all the time.
std::atomic<pid_t> awaiting[4];
void awaits(std::atomic<pid_t>& number) {
  sigset_t others, sigprof;
  sigfillset(&others);
  sigdelset(&others, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &others, nullptr);
  sigemptyset(&sigprof);
  sigaddset(&sigprof, SIGPROF);
  number = gettid();
  int got = 0;
  sigwait(&sigprof, &got);
  check(false, "sigwait");
}
void wakes() {
  static const bool ready = [] {
    signal(SIGUSR1, [](int) { ++handled; });
    for (auto& number : awaiting) std::thread(awaits, std::ref(number)).detach();
    return true;
  }();
  check(ready, "ready");
  for (int i = 0; i < 100; ++i)
    for (const auto& number : awaiting)
      if (const pid_t tid = number; tid > 0) tgkill(getpid(), tid, SIGUSR1);
}

struct Work {
  int threads;
  std::function<void()> turn;
};
const std::map<std::string, Work> kWork = {
    {"compute", {1, computes}}, {"vectors", {1, uses_vectors}}, {"malloc", {1, allocates}},
    {"arena", {4, allocates}},  {"arenas", {150, allocates}},   {"dlopen", {1, loads}},
    {"dlopens", {4, loads}},    {"fork", {1, forks}},           {"forks", {3, forks}},
    {"vfork", {1, vforks}},     {"spawn", {2, spawns}},         {"threads", {2, makes_threads}},
    {"stdio", {4, prints}},     {"handler", {1, handles}},      {"handlers", {1, handles_for_long}},
    {"signal", {1, is_called}}, {"wakes", {1, wakes}},          {"pipes", {2, transfers}},
};

[[gnu::noinline]] bool input_is_over() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 2 && kWork.contains(argv[1]), "argument");
  const std::string self = argv[0];
  here = self.substr(0, self.rfind('/'));
  mallopt(M_ARENA_MAX, 1);
  const Work& work = kWork.at(argv[1]);
  std::atomic<bool> over = false;
  std::vector<std::thread> others;
  for (int i = 1; i < work.threads; ++i)
    others.emplace_back([&] {
      while (!over) work.turn();
    });
  std::printf("%d is busy\n", getpid());
  std::fflush(stdout);
  LongestGap gap;
  for (; !input_is_over(); gap.look()) work.turn();
  gap.say();
  over = true;
  for (std::thread& other : others) other.join();
  std::puts("right");
  return 0;
}
