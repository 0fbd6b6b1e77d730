// The collector owns SIGPROF; the program keeps seeing, and setting, an action of its own. The
// context stands at each function.
#pragma once
#include <signal.h>

namespace gnomon::collector {

// Installs `handler` for SIGPROF; the previous action becomes the program's own.
// on_alternate_stacks: the handler runs on a thread's alternate stack if it has one, as programs
// whose threads have tiny stacks expect. Returns false if the kernel refuses. Normal context.
bool take_sigprof(void (*handler)(int, siginfo_t*, void*), bool on_alternate_stacks);
// Discards every pending SIGPROF of the process, ticks and others. Normal context.
void discard_sigprof();
// Installs the program's own action again; an action that the program has set by a raw system call
// stays. No clock runs any more. Pending ticks are discarded, and those that a debugger still holds
// are awaited by passed(data), called once. Returns false, with everything left as it was, if
// passed does. Normal context.
bool give_sigprof_back(void (*handler)(int, siginfo_t*, void*), bool (*passed)(const void* data),
                       const void* data);
// Returns false if the program has set an action by a raw system call. Any context.
bool has_sigprof(void (*handler)(int, siginfo_t*, void*));

}  // namespace gnomon::collector
