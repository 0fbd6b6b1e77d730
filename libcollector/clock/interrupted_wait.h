// A wait that a tick has broken off. In the handler of SIGPROF.
#pragma once
#include <ucontext.h>

namespace gnomon::collector {

// A wait that the kernel has ended with EINTR for our handler begins anew when that returns, as
// system calls with SA_RESTART do: programs without handlers do not reckon with EINTR. Not where a
// handler of the program's may have run as well, whose EINTR it would be. What has a timeout of
// milliseconds waits that long once more. In the handler of a tick, all signals blocked.
void restart_wait(ucontext_t& context);

// The number of the system call whose instruction ends before `next`, if it is set right there as
// libc does it; -1: it is not. 32 bytes before can be read.
int call_before(const unsigned char* next);

}  // namespace gnomon::collector
