// What system calls come to in a process like this one, tried by a child. Any thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "injector/attach/checks/needed_calls.h"

namespace gnomon::injector {

// SECCOMP_RET_… for each, as far as it shows; empty: it could not be tried.
std::optional<std::array<std::uint32_t, kNeededCalls.size()>> try_needed_calls();

}  // namespace gnomon::injector
