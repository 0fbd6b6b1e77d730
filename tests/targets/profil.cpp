// Built with -pg: libc's own profiler (gprof) has SIGPROF and writes gmon.out. Arguments: "whole":
// computes; "switched": stops and restarts that profiler meanwhile; "released": has the collector
// give back what it has; with libcollector.so and
// /directory/test of test.N.er behind, the collector comes in after the beginning.
#include <cstring>

#include "tests/targets/bring_in.h"
#include "tests/targets/burn.h"

extern "C" void moncontrol(int);

[[gnu::noinline]] void profiled(double seconds) { burn(seconds); }
[[gnu::noinline]] void unprofiled(double seconds) {
  burn(seconds);
  asm volatile("");
}

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
}
