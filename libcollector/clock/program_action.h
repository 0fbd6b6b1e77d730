// The program's own action for SIGPROF, which stands behind ours. Any context; takes no lock.
#pragma once
#include <signal.h>
#include <ucontext.h>

namespace gnomon::collector {

// As sigaction(2) for SIGPROF, as far as the program can see. Null arguments as there.
void exchange_program_action(const struct sigaction* fresh, struct sigaction* old);

// Does with a SIGPROF that is no tick of ours what the kernel would have done without us: ignores
// it, ends the program, runs its handler, or keeps it pending where the program believes to have
// blocked it. In our handler, all signals blocked; the program's handler may leave by longjmp.
void pass_on(siginfo_t& info, ucontext_t& context);

}  // namespace gnomon::collector
