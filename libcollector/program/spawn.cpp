// Interposed: posix_spawn and posix_spawnp, which start another program in a child. It inherits the
// signal mask that the calling thread has in the program's view. Normal context.
#include <spawn.h>

#include "libcollector/core/signal_action.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/children.h"
#include "libcollector/program/signal_masks.h"

namespace gnomon::collector {
namespace {

using Words = char* const*;
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, Words, Words);

constinit NextSymbol<Spawn> real_spawn{"posix_spawn", "GLIBC_2.15"};
constinit NextSymbol<Spawn> real_spawnp{"posix_spawnp", "GLIBC_2.15"};

template <typename Function, typename... Arguments>
int start(NextSymbol<Function>& real, Arguments... arguments) {
  const Blocked as_believed(emulated_mask());
  const int error = real(arguments...);
  if (error == 0) count_child();
  return error;
}

}  // namespace

extern "C" {

GNOMON_EXPORTED("posix_spawn", "2.15")
int gnomon_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, Words argv, Words envp) {
  return start(real_spawn, pid, path, actions, attributes, argv, envp);
}
GNOMON_EXPORTED("posix_spawnp", "2.15")
int gnomon_posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, Words argv, Words envp) {
  return start(real_spawnp, pid, file, actions, attributes, argv, envp);
}
}

namespace {

GNOMON_HOOK(gnomon_posix_spawn, real_spawn);
GNOMON_HOOK(gnomon_posix_spawnp, real_spawnp);

}  // namespace

}  // namespace gnomon::collector
