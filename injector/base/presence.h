// Presence: did libcollector.so get into a launched process? Seen from /proc; any thread.
#pragma once
#include <sys/types.h>

#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

enum class Presence {
  gone,     // there is no such process any more
  not_yet,  // the loader is at work, or another program (a shell) still runs in this process
  here,
  absent,  // libc is mapped, ours is not
};

// `executable` and `library`: real paths. The loader maps preloaded libraries before all others.
Presence presence(pid_t pid, const std::string& executable, const std::string& library);

// True if the process's tracer is its parent: it was launched by the debugger, not attached to.
bool was_launched(pid_t pid);

// Why the library is absent.
Fault absence(pid_t pid, const std::string& library);

}  // namespace gnomon::injector
