// Computes on small stacks with guard pages below: alternate signal stacks of some sizes, a handler
// on one, and a coroutine's.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/targets/burn.h"

namespace {

// `size` bytes that end at a page's end, with a page below that must not be touched.
char* guarded(std::size_t size) {
  const std::size_t whole = (size + 4095) / 4096 * 4096;
  auto* memory = static_cast<char*>(
      mmap(nullptr, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0) std::exit(1);
  std::memset(memory + 4096, 0x5a, whole);
  return memory + 4096 + whole - size;
}

void alternate(std::size_t size) {
  char* const bottom = guarded(size);
  stack_t mine{}, old{}, asked{};
  mine.ss_sp = bottom;
  mine.ss_size = size;
  if (sigaltstack(&mine, &old) != 0 || !(old.ss_flags & SS_DISABLE)) std::exit(1);
  burn(0.4);
  mine.ss_flags = SS_DISABLE;
  if (sigaltstack(nullptr, &asked) != 0 || asked.ss_sp != bottom || asked.ss_size != size)
    std::exit(1);
  if (sigaltstack(&mine, nullptr) != 0) std::exit(1);
  burn(0.4);
  // What lies below the stack in its first page is not the stack's.
  for (const char* at = bottom - reinterpret_cast<std::uintptr_t>(bottom) % 4096; at < bottom; ++at)
    if (*at != 0x5a) std::exit(1);
}

// The handler's mask is as it was set.
void handler(std::size_t size) {
  stack_t mine{};
  mine.ss_sp = guarded(size);
  mine.ss_size = size;
  struct sigaction action {
  }, asked{};
  action.sa_handler = [](int) { burn(0.1); };
  action.sa_flags = SA_ONSTACK;
  sigaddset(&action.sa_mask, SIGUSR2);
  if (sigaction(SIGUSR1, &action, nullptr) != 0 || sigaltstack(&mine, nullptr) != 0 ||
      sigaction(SIGHUP, &action, nullptr) != 0)
    std::exit(1);
  for (const int signal : {SIGUSR1, SIGHUP}) {
    burn(0.1);
    raise(signal);
    if (sigaction(signal, nullptr, &asked) != 0 || sigismember(&asked.sa_mask, SIGPROF) != 0 ||
        sigismember(&asked.sa_mask, SIGUSR2) != 1)
      std::exit(1);
  }
}

ucontext_t home, away;
[[gnu::noinline]] void on_coroutine() { burn(0.4); }

void coroutine(std::size_t size) {
  getcontext(&away);
  away.uc_stack.ss_sp = guarded(size);
  away.uc_stack.ss_size = size;
  away.uc_link = &home;
  makecontext(&away, on_coroutine, 0);
  swapcontext(&home, &away);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::size_t size = std::strtoul(argv[2], nullptr, 10);
  const std::string_view way = argv[1];
  way == "coroutine" ? coroutine(size) : way == "handler" ? handler(size) : alternate(size);
  return 0;
}
