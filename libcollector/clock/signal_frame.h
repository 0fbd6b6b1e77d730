// How many bytes of the program's stack a tick takes. Any context.
#pragma once
#include <cpuid.h>

#include <cstdint>

namespace gnomon::collector {

// Returns the bytes that the kernel pushes for a signal plus those that the collector's handler
// needs before it changes to a stack of its own. Intel SDM 1, "XSAVE-managed state"; components 17
// and 18 (AMX) are pushed only for programs that asked for them, whose alternate stacks the kernel
// checks itself.
inline std::uint64_t tick_stack_bytes() {
  constexpr std::uint64_t kLegacy = 576, kFrame = 640, kHandler = 512;
  constexpr std::uint64_t kAmx = 3ull << 17;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return kLegacy + kFrame + kHandler;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  const std::uint64_t enabled = ((std::uint64_t{d} << 32) | a) & ~kAmx;
  std::uint64_t area = kLegacy;
  for (std::uint32_t component = 2; component < 63; ++component) {
    if (!(enabled >> component & 1)) continue;
    __cpuid_count(0xd, component, a, b, c, d);
    if (a != 0 && std::uint64_t{b} + a > area) area = std::uint64_t{b} + a;
  }
  return area + kFrame + kHandler;
}

}  // namespace gnomon::collector
