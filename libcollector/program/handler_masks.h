// Handlers of the program's that run on an alternate stack. Any context; takes no lock.
#pragma once
#include <signal.h>

#include <cstdint>

namespace gnomon::collector {

// An alternate stack is made for its handlers, and may have no room for a tick beside them, for
// want of which the kernel would end the program. From here on SIGPROF waits while such a handler
// runs: it is added to the handlers' masks. Handlers that run already may still be met by a tick.
void keep_ticks_off_alternate_stacks();
// The signals whose handlers that would change, as a mask.
std::uint64_t handlers_for_ticks_to_keep_off();
// Takes it out again: no clock runs any more. Normal context.
void restore_handler_masks();
bool are_ticks_kept_off();
// The signals that had such a handler when ticks were last told to keep off, as a mask.
std::uint64_t handlers_on_alternate_stacks();

// What the interposed sigaction(2) tells the kernel instead of `fresh`, written to `extended` if it
// differs.
const struct sigaction* kernel_view(int signal, const struct sigaction* fresh,
                                    struct sigaction& extended);
// Takes out of the answer what was added. `added`: as added_masks() was before the call.
void program_view(int signal, std::uint64_t added, struct sigaction* old);
std::uint64_t added_masks();

}  // namespace gnomon::collector
