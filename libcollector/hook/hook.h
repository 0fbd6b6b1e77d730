// Hooks: a row for each libc function that the collector replaces. Normal context.
#pragma once
#include <cstdint>

#include "libcollector/hook/next_symbol.h"

namespace gnomon::collector {

// Hooks that are bound and released together. program: those that keep the program's manners, whose
// replacements are exported. The others trace calls, and only while that is asked for. pauses:
// functions that wait and are of no other family. calls: functions of `io` that wait; bound where
// `io` is not.
enum class Family : std::uint8_t { program, heap, sync, io, pauses, calls };
using Families = std::uint32_t;  // a bit each
constexpr Families bit_of(Family family) { return 1u << static_cast<unsigned>(family); }

inline constexpr Families kAllFamilies = bit_of(Family::program) | bit_of(Family::heap) |
                                         bit_of(Family::sync) | bit_of(Family::io) |
                                         bit_of(Family::pauses) | bit_of(Family::calls);

// As large as compilers align it, so that no gaps lie between the rows.
struct alignas(32) Hook {
  void* replacement;
  NextFunction* original;
  Family family;
  NextFunction* companion = nullptr;  // bound only where the same object defines that, too
};

// Two names of one function need one row.
#define GNOMON_TRACED(family, function, next)                                                \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook hook_of_##function { \
    reinterpret_cast<void*>(function), &(next), family                                       \
  }
#define GNOMON_TRACED_BESIDE(family, function, next, companion)                              \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook hook_of_##function { \
    reinterpret_cast<void*>(function), &(next), family, &(companion)                         \
  }
// A function that hooks call in place of another one: it is looked up, and nothing is bound.
#define GNOMON_NEEDED(family, next)                                                     \
  [[gnu::section("gnomon_hooks"), gnu::used]] ::gnomon::collector::Hook row_of_##next { \
    nullptr, &(next), family                                                            \
  }
#define GNOMON_HOOK(function, next) \
  GNOMON_TRACED(::gnomon::collector::Family::program, function, next)

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

// Looks up the originals of the family `program`. To be called before any replacement runs and
// before the program is bound to them.
void find_originals();
// Looks up the originals of the other families: what the program's own calls lead to, in the symbol
// table of the object that defines it. Calls within the executable cannot be bound: where it
// defines a function of a family, none of that family has an original. Returns how many it defines.
// Takes the loader's lock.
std::uint32_t find_traced_originals(Families families);

}  // namespace gnomon::collector
