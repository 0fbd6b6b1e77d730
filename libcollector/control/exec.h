// What a program hands on to the one it executes. Normal context.
#pragma once

namespace gnomon::collector {

// Finds the functions of libc that stand behind ours: before the first call, which may be in a
// child of vfork, where nothing may be looked up.
void find_exec_functions();

}  // namespace gnomon::collector
