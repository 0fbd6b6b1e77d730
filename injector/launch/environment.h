// The environment in which a program is launched so that it loads libcollector.so. Any thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// How long a launched program waits at most for the answer to its collector, ms.
inline constexpr unsigned kHoldMs = 2000;

// Names and values. executable: real path, as /proc/PID/exe will name it. users_preload: the
// LD_PRELOAD that the program would have without the collector. Fault: the loader cannot preload
// the library from where it lies.
using Variables = std::vector<std::pair<std::string, std::string>>;
Result<Variables> launch_variables(const Settings& settings, const std::string& executable,
                                   const std::string& users_preload);

}  // namespace gnomon::injector
