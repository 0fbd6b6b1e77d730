// The range of the injector's code, through which it sends threads of the program. Written before
// it does, read by ticks.
#pragma once
#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

// A thread's first tick inside this range records nothing; its time goes to the next tick.
inline constinit ByteRange ignored_code{};

}  // namespace gnomon::collector
