// The program's own system calls, of which some concern a recording. Normal context.
#pragma once

namespace gnomon::collector {

// Finds the functions of libc that stand behind ours: before the first call, which may be in a
// child of vfork, where nothing may be looked up.
void find_system_call_functions();

}  // namespace gnomon::collector
