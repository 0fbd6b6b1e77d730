// Computes in rounds without looking at a clock, each begun by `checkpoint`. Argument: rounds
// (default 10).
#include <cstdio>
#include <cstdlib>

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

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  unsigned x = 1;
  for (int round = 0; round < rounds; ++round) {
    checkpoint(round);
    x = work::computes_less(work::computes(x));
  }
  std::puts(x != 0 ? "done" : "done too");
}
