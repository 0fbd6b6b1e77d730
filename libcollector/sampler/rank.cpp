// What share of the CPUs gnomon-sampler gets. In gnomon-sampler.
#include "libcollector/sampler/rank.h"

#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

namespace gnomon::sampler {
namespace {

std::optional<int> nice_of(pid_t process) {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(process));
  return errno == 0 ? std::optional(nice) : std::nullopt;
}

// `/autogroup-7 nice -10`; empty for a process that belongs to no session's group.
std::optional<int> nice_of_session(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/autogroup");
  std::string name, word;
  int nice = 0;
  return file >> name >> word >> nice ? std::optional(nice) : std::nullopt;
}

}  // namespace

void rank_like(pid_t recorded) {
  const std::optional<int> nice = nice_of(recorded);
  const std::optional<int> own = nice_of(0);
  if (nice && own && *nice < *own) setpriority(PRIO_PROCESS, 0, *nice);
  const std::optional<int> session = nice_of_session(recorded);
  const int level = session.value_or(nice.value_or(0));
  if (level < 0) std::ofstream("/proc/self/autogroup") << level;
}

}  // namespace gnomon::sampler
