// Computes what a seccomp filter would do to a system call, without making the call. Any thread.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gnomon::injector {

using SeccompFilter = std::vector<sock_filter>;

// Returns SECCOMP_RET_... with its data. A filter that the kernel would not have accepted yields
// SECCOMP_RET_KILL_PROCESS.
std::uint32_t outcome(std::span<const sock_filter> filter, const seccomp_data& call);

// Returns the strictest outcome of all filters, as the kernel combines them (seccomp_run_filters).
std::uint32_t outcome(std::span<const SeccompFilter> filters, const seccomp_data& call);

}  // namespace gnomon::injector
