// For how long a thread that should go on all the time did not: the longest time between two looks.
// Written to stderr at the end if SAY_GAP is in the environment.
#pragma once
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

class LongestGap {
 public:
  void look() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
    if (last_ != 0) longest_ = std::max(longest_, now - last_);
    last_ = now;
  }
  void say() const {
    if (std::getenv("SAY_GAP")) std::fprintf(stderr, "longest gap %.2f ms\n", longest_);
  }

 private:
  double last_ = 0, longest_ = 0;  // ms
};
