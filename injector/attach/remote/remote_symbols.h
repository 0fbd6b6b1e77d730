// Functions of a running process, from the dynamic tables in its memory: also where its files are
// gone or in another mount namespace. Any thread; stops nothing.
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
// As the program itself would bind them: the executable, a sanitizer's runtime, libc. A fault: it
// has none, as a static program, or one of another libc.
Result<LoaderFunctions> find_loader_functions(pid_t pid);

// Where a system call instruction of libc's lies; 0: nowhere.
std::uint64_t find_system_call_instruction(pid_t pid);

}  // namespace gnomon::injector
