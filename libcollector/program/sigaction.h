// SIGPROF is ours while the program believes it has it. Interposed: what sets actions and masks.
#pragma once
#include <signal.h>

namespace gnomon::collector {

// Makes `handler` the process's for SIGPROF; what it was before counts as the program's.
// on_alternate_stacks: it runs on the alternate stack of a thread that has one, as a program whose
// threads have tiny stacks expects. False: refused. Normal context.
bool take_sigprof(void (*handler)(int, siginfo_t*, void*), bool on_alternate_stacks);
// Forgets every SIGPROF that is pending for any thread, a tick or not. Normal context.
void discard_sigprof();
// The program's action is the process's again; what it has set past us stays. A tick that is
// pending does not end the program, nor one that `passed` (called once, with `data`) waits for:
// false of it, or of this, if all stays as it is. Once no clock runs; normal context.
bool give_sigprof_back(void (*handler)(int, siginfo_t*, void*), bool (*passed)(const void* data),
                       const void* data);
// False: the program set an action by a raw system call. Any context.
bool has_sigprof(void (*handler)(int, siginfo_t*, void*));

}  // namespace gnomon::collector
