// A process that its debugger no longer follows. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

namespace gnomon::injector {

// Returns the process that traces it; 0 if there is none or it has ended.
pid_t tracer_of(pid_t pid);

// Returns true if a thread other than the first executes another program and the tracer does not
// notice. lldb-server 19 drops the first thread when it dies in the exec, although the executing
// thread goes on under its number, and cannot reap a thread that was created just before. Also
// briefly true if the tracer does notice.
bool is_held_by_exec(pid_t pid);

// Lets a process that its tracer has lost run on. Waits up to two seconds for the tracer's end, and
// discards the stops that it has begun.
void let_go_on(pid_t pid);

}  // namespace gnomon::injector
