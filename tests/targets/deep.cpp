// Computes at the end of a call chain that is larger than what is copied of a stack at first.
// Argument: CPU seconds.
#include <cstdlib>

#include "tests/targets/burn.h"

namespace work {

[[gnu::noinline]] void deepest(double seconds) {
  burn(seconds);
  asm volatile("");
}

[[gnu::noinline]] void deeper(int levels, double seconds) {
  volatile char room[512];
  room[0] = 1;
  if (levels == 0)
    deepest(seconds);
  else
    deeper(levels - 1, seconds);
  room[1] = room[0];
}

[[gnu::noinline]] void outermost(double seconds) {
  deeper(20, seconds);
  asm volatile("");
}

}  // namespace work

int main(int argc, char** argv) { work::outermost(argc > 1 ? std::atof(argv[1]) : 1.0); }
