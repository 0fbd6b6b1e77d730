// The machine's CLOCK_MONOTONIC, from within any time namespace. Normal context.
#include "libcollector/core/machine_time.h"

#include <sys/syscall.h>

#include <cstdlib>
#include <cstring>

#include "libcollector/core/small_file.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

constexpr char kMonotonic[] = "monotonic";
// The namespace that the machine begins in: PROC_TIME_INIT_INO of the kernel's proc_ns.h.
constexpr char kMachines[] = "time:[4026531834]";

struct Namespace {
  char name[64] = {};

  explicit Namespace(const char* link) {
    raw_syscall(SYS_readlink, arg(link), arg(name), sizeof name - 1);
  }
};

// A process that has asked for a namespace is not in it, only its children are; what it reads of
// offsets is theirs.
bool is_in_namespace() {
  const Namespace own("/proc/self/ns/time");
  if (own.name[0] == 0 || std::strcmp(own.name, kMachines) == 0) return false;
  return std::strcmp(own.name, Namespace("/proc/self/ns/time_for_children").name) == 0;
}

}  // namespace

std::int64_t monotonic_ahead_in(const char* offsets) {
  const char* at = std::strstr(offsets, kMonotonic);
  if (!at) return 0;
  char* end = nullptr;
  const long long seconds = std::strtoll(at + sizeof kMonotonic - 1, &end, 10);
  return seconds * static_cast<std::int64_t>(kSecond) + std::strtoll(end, nullptr, 10);
}

void adopt_machine_time() {
  char text[256];
  const bool is_read =
      is_in_namespace() && read_small_file("/proc/self/timens_offsets", text, sizeof text) != 0;
  monotonic_ahead = is_read ? monotonic_ahead_in(text) : 0;
}

}  // namespace gnomon::collector
