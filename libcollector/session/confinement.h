// Whether the program's system calls are filtered. Normal context.
#pragma once

namespace gnomon::collector {

// True under seccomp(2), and where that cannot be told: a call that is not allowed may end the
// program, so none is made that is only for comfort.
bool is_confined();

}  // namespace gnomon::collector
