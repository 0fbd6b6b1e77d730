// Finds functions of a running process by the dynamic tables in its memory, so that its files may
// be gone or in another mount namespace. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// Addresses in the process.
struct LoaderFunctions {
  std::uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror;
};
// Finds them in the order in which the program binds them: the executable, a sanitizer's runtime,
// libc. Returns a Fault for a program without them: static, or of another libc.
Result<LoaderFunctions> find_loader_functions(pid_t pid);

// Returns the address of a syscall instruction in libc, or 0.
std::uint64_t find_system_call_instruction(pid_t pid);

}  // namespace gnomon::injector
