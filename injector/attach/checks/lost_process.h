// A process that its debugger does not follow any more. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

namespace gnomon::injector {

// The process that traces it; 0: none, or it has ended.
pid_t tracer_of(pid_t pid);

// True if a thread that was not its first executes another program, and the tracer does not learn
// of that: lldb-server (19) forgets the first thread when that one dies of it, under whose number
// the other one goes on, and cannot await the end of a thread that had only just been made. Briefly
// true of one that does learn of it.
bool is_held_by_exec(pid_t pid);

// Lets a process that its tracer has lost run, as soon as that one is gone: waits for that, up to
// two seconds. No stop that the tracer has begun outlasts it.
void let_go_on(pid_t pid);

}  // namespace gnomon::injector
