// What a program hands on to the one it executes. Normal context.
#pragma once

namespace gnomon::collector {

// What syscall(2) is asked for by these numbers. Result: as execve(2).
long execve_by_number(long, const char* path, char* const* argv, char* const* envp);
long execveat_by_number(long, int at, const char* path, char* const* argv, char* const* envp,
                        int flags);

}  // namespace gnomon::collector
