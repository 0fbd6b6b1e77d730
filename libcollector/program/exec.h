// The exec system calls, when a program makes them by number. Normal context.
#pragma once

namespace gnomon::collector {

// SYS_execve and SYS_execveat of syscall(2). They return as execve(2).
long execve_by_number(long, const char* path, char* const* argv, char* const* envp);
long execveat_by_number(long, int at, const char* path, char* const* argv, char* const* envp,
                        int flags);

}  // namespace gnomon::collector
