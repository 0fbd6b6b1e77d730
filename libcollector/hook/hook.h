// Hooks: a row for each libc function that the collector replaces. Normal context.
#pragma once
#include "libcollector/hook/next_symbol.h"

namespace gnomon::collector {

struct Hook {
  void* replacement;
  NextFunction* original;
};

// Two names of one libc function need one row.
#define GNOMON_HOOK(function, next)                                                          \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook hook_of_##function { \
    reinterpret_cast<void*>(function), &(next)                                               \
  }

// A replacement under libc's own name and version, so that a program to which the collector was
// preloaded is bound to it.
#define GNOMON_EXPORTED(name, version) \
  __attribute__((visibility("default"), symver(name "@@GLIBC_" version)))

struct Hooks {
  const Hook *first, *last;
  const Hook* begin() const { return first; }
  const Hook* end() const { return last; }
};
Hooks all_hooks();

// Looks up the originals. To be called before any replacement runs and before the program is bound
// to them.
void find_originals();

}  // namespace gnomon::collector
