// Restarts a wait that a tick has interrupted. In the handler of SIGPROF.
#pragma once
#include <ucontext.h>

namespace gnomon::collector {

// Makes a system call that failed with EINTR because of the tick begin again when the handler
// returns, as SA_RESTART would: programs without handlers do not expect EINTR. Does nothing if a
// handler of the program may have run as well, because the EINTR would be due to that. A timeout in
// milliseconds starts again. Called in the handler of a tick, all signals blocked.
void restart_wait(ucontext_t& context);

// Makes a system call that the kernel is about to restart after the handler fail with EINTR, as it
// does where the program's handler has no SA_RESTART; the collector's has. Called in the handler
// of a SIGPROF that is no tick, all signals blocked.
void fail_restarted_call(ucontext_t& context);

// Returns the number of the system call whose instruction ends at `next`, if the code right before
// sets it as libc does; else -1. The 32 bytes before `next` are readable.
int call_before(const unsigned char* next);

}  // namespace gnomon::collector
