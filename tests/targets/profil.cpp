// Built with -pg: libc's own profiler (gprof) has SIGPROF and writes gmon.out. Arguments: "whole":
// computes; "switched": stops and restarts that profiler meanwhile; "released": has the collector
// give back what it has; with libcollector.so and
// /directory/test of test.N.er behind, the collector comes in after the beginning. Writes the CPU
// seconds that gmon.out should show into the file "profiled".
#include <cstdio>
#include <cstring>

#include "tests/targets/bring_in.h"
#include "tests/targets/burn.h"

extern "C" void moncontrol(int);

// Looks at its clock every 50 ms or so: see burn.h.
[[gnu::always_inline]] inline void compute(double seconds) {
  for (const double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 50'000'000; ++i) asm volatile("");
}
double used = 0;  // CPU seconds
[[gnu::noinline]] void profiled(double seconds) {
  const double before = cpu_time();
  compute(seconds);
  used += cpu_time() - before;
}
[[gnu::noinline]] void unprofiled(double seconds) { compute(seconds); }

int main(int argc, char** argv) {
  check(argc >= 2);
  profiled(0.3);
  if (argc > 3) bring_in_by_thread({argv[2], argv[3]});
  profiled(0.3);
  if (std::strcmp(argv[1], "switched") == 0) {
    moncontrol(0);
    unprofiled(0.3);
    moncontrol(1);
  }
  profiled(0.2);
  if (std::strcmp(argv[1], "released") == 0) do_by_thread(give_back, nullptr);
  profiled(0.2);
  std::FILE* const file = std::fopen("profiled", "w");
  check(file && std::fprintf(file, "%.3f\n", used) > 0 && std::fclose(file) == 0);
}
