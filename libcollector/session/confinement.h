// Tells whether the program's system calls are filtered. Normal context.
#pragma once

namespace gnomon::collector {

// Returns true under seccomp(2), and if that cannot be determined. A forbidden call may end the
// program, so optional system calls are not made then.
bool is_confined();

}  // namespace gnomon::collector
