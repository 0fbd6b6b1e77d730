// Waits for a byte of its standard input while the loader still relocates it (in the resolver of an
// indirect function), says its number in main, and ends with its input. Exit status 0 and "right".
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

namespace {

int one() { return 1; }

}  // namespace

// libc is not ready: no call of it.
extern "C" [[gnu::no_sanitize("address", "thread", "undefined")]] int (*resolve())() {
  char byte = 0;
  long result = SYS_read;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(STDIN_FILENO), "S"(&byte), "d"(1)
               : "rcx", "r11", "memory");
  return one;
}
extern "C" [[gnu::ifunc("resolve")]] int number();

int main() {
  std::printf("%d\n", getpid());
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  std::puts(number() == 1 ? "right" : "wrong");
  return number() == 1 ? 0 : 1;
}
