// Interposed functions: what the rest of the collector needs to know of them.
#pragma once
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// The functions under which main and the start routines of threads run. Any context.
Roots program_roots();

}  // namespace gnomon::collector
