// Code that goes away while the program runs. Normal context.
#pragma once

namespace gnomon::collector {

// Finds the function of libc that stands behind ours.
void find_unload_functions();

}  // namespace gnomon::collector
