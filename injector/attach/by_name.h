// Which processes run a program. Any thread of a debugger or of the shell's command.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace gnomon::injector {

// The processes that this user may look at whose program's file, or whose first thread, is called
// `name`, in ascending order.
std::vector<pid_t> processes_named(const std::string& name);

}  // namespace gnomon::injector
