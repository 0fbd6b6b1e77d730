// Identifies a process among all that have or had its pid. Normal context.
#include "libcollector/record/process_identity.h"

#include <cstdlib>
#include <cstring>

#include "libcollector/core/proc_path.h"
#include "libcollector/core/small_file.h"

namespace gnomon::collector {
// The second field, in parentheses, is the program's name and may hold blanks and parentheses.
std::uint64_t stat_field(const char* process, int number) {
  char text[1024];
  if (read_small_file(ProcPath(process, "stat").text(), text, sizeof text) == 0) return 0;
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at && field < number; ++field) at = std::strchr(at + 1, ' ');
  return at ? std::strtoull(at, nullptr, 10) : 0;
}

ProcessIdentity process_identity(const char* process) {
  ProcessIdentity identity{};
  read_small_file("/proc/sys/kernel/random/boot_id", identity.boot, sizeof identity.boot);
  if (char* end = std::strchr(identity.boot, '\n')) *end = 0;
  const long length = raw_syscall(SYS_readlink, arg(ProcPath(process, "ns/pid").text()),
                                  arg(identity.pid_namespace), sizeof identity.pid_namespace - 1);
  identity.pid_namespace[length < 0 ? 0 : length] = 0;
  identity.start_ticks = stat_field(process, 22);
  return identity;
}

}  // namespace gnomon::collector
