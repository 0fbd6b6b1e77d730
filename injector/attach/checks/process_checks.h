// Preflight of an attach, with or without a debugger: can the collector come into the process and
// work there? Reads /proc and the process's memory; any thread; stops and changes nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// library: path of libcollector.so. Returns the first obstacle found, as a Fault about "it".
Result<void> check_process(pid_t pid, const std::string& library);
// Returns true if a libcollector.so is in the process: else there is nothing to be given back.
bool has_collector(pid_t pid);
// Returns the address of the function in the process that ends a recording, or a Fault about "it"
// if there is none or it cannot be called now.
Result<std::uint64_t> find_release(pid_t pid);

}  // namespace gnomon::injector
