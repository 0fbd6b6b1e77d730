// How another process sees the machine: thread ids, files and rights. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// Returns a thread's id in its own pid namespace, or its id here if that is unknown.
pid_t own_number(pid_t pid, pid_t tid);
inline pid_t own_number(pid_t pid) { return own_number(pid, pid); }
// Returns the thread whose id in its own pid namespace is `own`, or 0.
pid_t thread_by_own_number(pid_t pid, pid_t own);

// Returns a Fault if the process sees no /proc, or that of another pid namespace.
Result<void> check_own_proc(pid_t pid);

// Returns true if `path` is the same file for the process as here, and it may read and execute it,
// or create files in it if it is a directory.
bool can_use(pid_t pid, const std::string& path);

// The user and group that own the process's new files.
struct Owner {
  uid_t user;
  gid_t group;
};
Owner file_owner(pid_t pid);

}  // namespace gnomon::injector
