// The collector owns SIGPROF; the program keeps seeing, and setting, an action of its own. The
// context stands at each function.
#pragma once
#include <signal.h>

#include "libcollector/core/signal_action.h"

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
// Returns true between take_sigprof and give_sigprof_back. Any context.
bool is_sigprof_taken();
// rt_sigaction(2) for SIGPROF through syscall(3), while it is taken. Any context.
long sigaction_by_number(long number, int signal, const KernelAction* fresh, KernelAction* old,
                         std::size_t mask_bytes);
// Returns false if the program has set an action by a raw system call. Any context.
bool has_sigprof(void (*handler)(int, siginfo_t*, void*));
// Returns true if the program's own action is a handler of libc's. Normal context.
bool has_libc_set_sigprof();

// Brackets a call in which libc may set or restore SIGPROF's action inside itself (profil(3)).
// Afterwards the collector has the signal again, and what libc has set is the program's own action.
// A tick of another thread may go to libc's handler in between. Normal context.
class SetInsideLibc {
 public:
  SetInsideLibc();
  ~SetInsideLibc();
  SetInsideLibc(const SetInsideLibc&) = delete;
  SetInsideLibc& operator=(const SetInsideLibc&) = delete;

 private:
  struct sigaction ours_ {};
};

}  // namespace gnomon::collector
