// Hooks: a row for each libc function that the collector replaces. Normal context.
#pragma once
#include <cstdint>

#include "libcollector/format/tracers.h"
#include "libcollector/hook/next_symbol.h"

namespace gnomon::collector {

using format::HookGroup;
using format::HookGroups;
using format::kAllHooks;

// As large as compilers align it, so that no gaps lie between the rows.
struct alignas(64) Hook {
  void* replacement;
  void* known_original;  // of `original`, for whoever looks at this process from outside
  NextFunction* original;
  HookGroup group;
  NextFunction* companion = nullptr;  // bound only where the same object defines that, too
};

// Two names of one function need one row.
#define GNOMON_TRACED(group, function, next)                                                 \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook hook_of_##function { \
    reinterpret_cast<void*>(function), nullptr, &(next), group                               \
  }
#define GNOMON_TRACED_BESIDE(group, function, next, companion)                               \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook hook_of_##function { \
    reinterpret_cast<void*>(function), nullptr, &(next), group, &(companion)                 \
  }
// A function that hooks call in place of another one: it is looked up, and nothing is bound.
#define GNOMON_NEEDED(group, next)                                                      \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook row_of_##next { \
    nullptr, nullptr, &(next), group                                                    \
  }
#define GNOMON_HOOK(function, next) \
  GNOMON_TRACED(::gnomon::collector::HookGroup::program, function, next)

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

// Looks up the originals of the group `program`. To be called before any replacement runs and
// before the program is bound to them.
void find_originals();

// The right to look for originals and to bind the program to hooks. Normal context.
class HookWork {
 public:
  // patience: how long to wait for another thread that has the right, ns.
  explicit HookWork(std::uint64_t patience = 500'000'000);
  ~HookWork();
  HookWork(const HookWork&) = delete;
  HookWork& operator=(const HookWork&) = delete;
  explicit operator bool() const { return has_it_; }

 private:
  bool has_it_;
};

// Looks up the originals of the other groups: what the program's own calls lead to, in the symbol
// table of the object that defines it. Calls within the executable cannot be bound: where it
// defines a function of a group, none of that group has an original. Returns how many it defines.
// Takes the loader's lock. For a thread that has the right to HookWork.
std::uint32_t find_traced_originals(HookGroups groups);
// The same once more for the groups of the last call, because a library has come. Returns the
// groups in which a function has an original and had none, or another one.
HookGroups find_originals_that_came();
// Returns true if a library has been loaded since originals of traced groups were looked up, at
// which nobody has looked. Takes the loader's lock.
bool has_library_come();

}  // namespace gnomon::collector
