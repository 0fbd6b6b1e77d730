// Where threads of the program start. Any context.
#pragma once
#include "libcollector/unwind/unwinder.h"

namespace gnomon::collector {

// Returns the code of the functions under which main and the start routines of threads run.
Roots program_roots();

}  // namespace gnomon::collector
