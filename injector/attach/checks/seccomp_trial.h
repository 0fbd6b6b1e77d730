// Tries system calls in a child process, to learn what this process's seccomp filters allow. Any
// thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "injector/attach/checks/needed_calls.h"

namespace gnomon::injector {

// Returns SECCOMP_RET_... for each call, as far as its result shows; nothing if the trial could not
// be made.
std::optional<std::array<std::uint32_t, kNeededCalls.size()>> try_needed_calls();

}  // namespace gnomon::injector
