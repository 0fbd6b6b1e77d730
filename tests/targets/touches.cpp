// "once N": two threads touch objects and N pages and call functions, as often as N says. "execs
// N": it then executes itself once more.
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

extern "C" {
volatile long total = 0, spare = 0;
struct {
  long key;
  volatile int count;
} shared;

__attribute__((noinline)) long step(volatile long* to) {
  const long next = *to + 1;
  *to = next;
  return next;
}
__attribute__((noinline)) void often(long n) {
  for (long i = 0; i < n; ++i) total = total + i;
}
__attribute__((noinline)) void seldom(long n) {
  for (long i = 0; i < n; ++i) shared.count = shared.count + 1;
}
__attribute__((noinline)) void calls(long n) {
  volatile long own = 0;
  for (long i = 0; i < n; ++i) step(&own);
}
__attribute__((noinline)) void touch(long pages) {
  const auto bytes = static_cast<std::size_t>(pages) * 4096;
  auto* at = static_cast<volatile char*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(at), bytes, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < bytes; i += 4096) at[i] = 1;
  munmap(const_cast<char*>(at), bytes);
}
// Its loop begins at its first instruction.
void rounds(long n);
asm(R"(
  .type rounds, @function
  .globl rounds
rounds:
  dec %rdi
  jnz rounds
  ret
  .size rounds, . - rounds
)");
__attribute__((noinline)) void naps(long n) {
  const timespec moment{0, 50'000};
  for (long i = 0; i < n; ++i) nanosleep(&moment, nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // no tail call
}
__attribute__((noinline)) void checkpoint() {
  std::puts("checkpoint");
  std::fflush(stdout);
}
}

int main(int argc, char** argv) {
  if (argc < 3) return 0;
  const long n = std::atol(argv[2]);
  rounds(3);
  if (std::strcmp(argv[1], "naps") == 0) return naps(n), 0;
  checkpoint();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([n] {
      touch(n);
      often(n);
      seldom(n / 2);
      calls(n);
    });
  for (std::thread& each : threads) each.join();
  checkpoint();
  if (const pid_t child = fork(); child == 0) {
    often(100);
    calls(100);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  often(100);
  calls(100);
  if (std::strcmp(argv[1], "execs") == 0) {
    char again[] = "again", few[] = "10";
    char* words[] = {argv[0], again, few, nullptr};
    execv("/proc/self/exe", words);
  }
  return 0;
}
