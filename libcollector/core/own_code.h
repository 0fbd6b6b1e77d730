// Where this library lies. Any context.
#pragma once
#include "libcollector/core/byte_range.h"

extern "C" {
// The linker's names for the beginning of the library and the end of its code.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));  // NOLINT
extern const char etext[] __attribute__((visibility("hidden")));         // NOLINT
}

namespace gnomon::collector {

inline ByteRange own_code() {
  return {reinterpret_cast<std::uint64_t>(__ehdr_start), reinterpret_cast<std::uint64_t>(etext)};
}

}  // namespace gnomon::collector
