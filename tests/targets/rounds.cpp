// Computes in rounds without looking at a clock, each begun by `checkpoint`. Arguments: rounds
// (default 10), and anything, to print at the end which signals it catches.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace work {

[[gnu::noinline]] unsigned computes(unsigned seed) {
  volatile unsigned x = seed;
  for (int i = 0; i < 150'000'000; ++i) x = x * 3 + 1;
  return x;
}

[[gnu::noinline]] unsigned computes_less(unsigned seed) {
  volatile unsigned x = seed;
  for (int i = 0; i < 75'000'000; ++i) x = x * 5 + 1;
  return x;
}

}  // namespace work

extern "C" [[gnu::noinline]] void checkpoint(int round) {
  asm volatile("" ::"r"(round) : "memory");
}

// The line SigCgt of proc(5).
void print_caught() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  while (file && std::fgets(line, sizeof line, file))
    if (std::strncmp(line, "SigCgt", 6) == 0) std::fputs(line, stdout);
  if (file) std::fclose(file);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  unsigned x = 1;
  for (int round = 0; round < rounds; ++round) {
    checkpoint(round);
    x = work::computes_less(work::computes(x));
  }
  if (argc > 2) print_caught();
  std::puts(x != 0 ? "done" : "done too");
}
