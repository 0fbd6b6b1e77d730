// The clock by which experiments count time. Any thread.
#include "reader/base/clock.h"

#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gnomon {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

// Offsets are those of the children's namespace, which is not this process's own if it has just
// asked for a new one.
bool is_in_namespace_of_children() {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/time", error);
  return !error && own == std::filesystem::read_symlink("/proc/self/ns/time_for_children", error);
}

// By how much this process's CLOCK_MONOTONIC is ahead of the machine's, ns.
std::int64_t ahead() {
  if (!is_in_namespace_of_children()) return 0;
  std::ifstream offsets("/proc/self/timens_offsets");
  std::string clock;
  std::int64_t seconds = 0, ns = 0;
  while (offsets >> clock >> seconds >> ns)
    if (clock == "monotonic") return seconds * static_cast<std::int64_t>(kSecond) + ns;
  return 0;
}

}  // namespace

std::uint64_t monotonic_now() {
  static const std::int64_t kAhead = ahead();
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec) - static_cast<std::uint64_t>(kAhead);
}

}  // namespace gnomon
