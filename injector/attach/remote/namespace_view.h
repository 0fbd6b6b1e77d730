// What a process sees of the machine: its numbers, its files, its rights. Any thread; stops
// nothing.
#pragma once
#include <sys/types.h>

#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// The number of a thread in its own pid namespace; as it is here if that cannot be known.
pid_t own_number(pid_t pid, pid_t tid);
inline pid_t own_number(pid_t pid) { return own_number(pid, pid); }
// The thread whose own number is `own`. 0: there is none.
pid_t thread_by_own_number(pid_t pid, pid_t own);

// A fault: there is no /proc where it looks for its own, or another's.
Result<void> check_own_proc(pid_t pid);

// Whether `path` is the same file for it as it is here, which it may read, and execute if it is
// not a directory: in that it may make files.
bool can_use(pid_t pid, const std::string& path);

// The user and group that its files belong to.
struct Owner {
  uid_t user;
  gid_t group;
};
Owner file_owner(pid_t pid);

}  // namespace gnomon::injector
