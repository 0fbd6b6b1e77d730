// Preflight of an attach, whoever holds the process: can the collector come into it, and live
// there? From /proc and the process's memory; any thread; nothing is stopped or touched.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// `library`: path of libcollector.so. The first fault there is, about "it".
Result<void> check_process(pid_t pid, const std::string& library);
// Where in the process the function is that ends a recording. A fault, about "it": nowhere, or it
// cannot be called now.
Result<std::uint64_t> find_release(pid_t pid);

}  // namespace gnomon::injector
