// Restrictions of the program's system calls. Normal context.
#pragma once

namespace gnomon::collector {

// Returns true under seccomp(2), and if that cannot be determined. A forbidden call may end the
// program, so optional system calls are not made then.
bool is_confined();

// end: called before the program restricts its system calls, in any of the processes that share or
// have copied this memory.
void end_at_confinement(void (*end)());
// To be called where the program is about to do so: the kernel might end it for a system call of
// the collector's afterwards.
void before_confinement();

}  // namespace gnomon::collector
