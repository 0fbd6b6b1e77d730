// What a seccomp filter would do to a system call, without making it. Any thread.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gnomon::injector {

using SeccompFilter = std::vector<sock_filter>;

// SECCOMP_RET_… with its data. A program that the kernel would not have taken ends the process.
std::uint32_t outcome(std::span<const sock_filter> filter, const seccomp_data& call);

// Of all of them, as the kernel combines them (seccomp_run_filters): the strictest.
std::uint32_t outcome(std::span<const SeccompFilter> filters, const seccomp_data& call);

}  // namespace gnomon::injector
