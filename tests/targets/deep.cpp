// Computes at the end of a call chain, of half a KiB a call.
// Arguments: CPU seconds, calls; with "main" or "thread" behind them in that thread, below a frame
// of 40 KiB of which only the ends are used.
#include <cstdlib>
#include <string_view>
#include <thread>

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

[[gnu::noinline]] void outermost(int calls, double seconds) {
  deeper(calls, seconds);
  asm volatile("");
}

[[gnu::noinline]] void around_a_hole(int calls, double seconds) {
  volatile char room[40960];
  room[sizeof room - 1] = 1;
  outermost(calls, seconds);
  room[sizeof room - 2] = room[sizeof room - 1];
}

[[gnu::noinline]] void beyond_the_hole(int calls, double seconds) {
  around_a_hole(calls, seconds);
  asm volatile("");
}

}  // namespace work

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  const double seconds = std::atof(argv[1]);
  const int calls = std::atoi(argv[2]);
  const std::string_view where = argc > 3 ? argv[3] : "";
  if (where == "") work::outermost(calls, seconds);
  if (where == "main") work::beyond_the_hole(calls, seconds);
  if (where == "thread") std::thread(work::beyond_the_hole, calls, seconds).join();
}
