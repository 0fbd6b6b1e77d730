// A program that is built anew: its functions are others, and lie elsewhere. With an argument it
// ends by a signal.
#include <signal.h>

#include "tests/targets/burn.h"

extern "C" {
#if BUILD == 2
[[gnu::noinline]] int comes_first(int number) {
  volatile int sum = 0;
  for (int i = 0; i < number; ++i) sum = sum + i;
  return sum;
}
[[gnu::noinline]] void of_the_second() {
  burn(0.2);
  asm volatile("");  // no tail call
}
#define WORK of_the_second
#else
[[gnu::noinline]] int comes_first(int number) { return number; }
[[gnu::noinline]] void of_the_first() {
  burn(0.2);
  asm volatile("");  // no tail call
}
#define WORK of_the_first
#endif
}

int main(int argc, char**) {
  comes_first(argc);
  WORK();
  if (argc > 1) raise(SIGKILL);
  return 0;
}
