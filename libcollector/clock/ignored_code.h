// Code in the program that is not the program's: the injector's, while it sends threads through it.
// Written before they are, read by ticks.
#pragma once
#include "libcollector/core/byte_range.h"

namespace gnomon::collector {

// A thread's first tick says nothing there: its time goes to the next.
inline constinit ByteRange ignored_code{};

}  // namespace gnomon::collector
