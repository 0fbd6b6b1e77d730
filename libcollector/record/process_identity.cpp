// Identifies this process among all that have or had its pid. Normal context.
#include "libcollector/record/process_identity.h"

#include <cstdlib>
#include <cstring>

#include "libcollector/core/small_file.h"

namespace gnomon::collector {
// The second field, in parentheses, is the program's name and may hold blanks and parentheses.
std::uint64_t own_stat_field(int number) {
  char text[1024];
  if (read_small_file("/proc/self/stat", text, sizeof text) == 0) return 0;
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at && field < number; ++field) at = std::strchr(at + 1, ' ');
  return at ? std::strtoull(at, nullptr, 10) : 0;
}

ProcessIdentity process_identity() {
  ProcessIdentity identity{};
  read_small_file("/proc/sys/kernel/random/boot_id", identity.boot, sizeof identity.boot);
  if (char* end = std::strchr(identity.boot, '\n')) *end = 0;
  const long length = raw_syscall(SYS_readlink, arg("/proc/self/ns/pid"),
                                  arg(identity.pid_namespace), sizeof identity.pid_namespace - 1);
  identity.pid_namespace[length < 0 ? 0 : length] = 0;
  identity.start_ticks = own_stat_field(22);
  return identity;
}

}  // namespace gnomon::collector
