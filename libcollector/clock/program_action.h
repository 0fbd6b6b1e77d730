// The program's own action for SIGPROF, kept beside the collector's. Any context; takes no lock.
#pragma once
#include <signal.h>
#include <ucontext.h>

namespace gnomon::collector {

// As sigaction(2) for SIGPROF in the program's view; null arguments as there.
void exchange_program_action(const struct sigaction* fresh, struct sigaction* old);

// Does with a SIGPROF that is no tick what the kernel would do without the collector: ignores it,
// ends the program, runs the program's handler, or keeps it pending where the program has blocked
// it in its own view. Called in the collector's handler, all signals blocked; the program's handler
// may leave by longjmp.
void pass_on(siginfo_t& info, ucontext_t& context);

}  // namespace gnomon::collector
