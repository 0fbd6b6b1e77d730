// Keeps ticks off the program's handlers that run on an alternate stack. Any context; takes no
// lock.
#pragma once
#include <signal.h>

#include <cstdint>

namespace gnomon::collector {

// Adds SIGPROF to the masks of all handlers that run on an alternate stack, and of those set later:
// such a stack may have no room for a tick beside a handler, and without room the kernel would end
// the program. Handlers that run already may still be interrupted by a tick.
void keep_ticks_off_alternate_stacks();
// Returns the signals whose handlers' masks keep_ticks_off_alternate_stacks() would change.
std::uint64_t handlers_for_ticks_to_keep_off();
// Removes SIGPROF from those masks again, once no clock runs. Normal context.
void restore_handler_masks();
bool are_ticks_kept_off();
// Returns the signals that had such a handler at the last keep_ticks_off_alternate_stacks().
std::uint64_t handlers_on_alternate_stacks();

// Returns the action that the interposed sigaction(2) sets in place of `fresh`; stored in
// `extended` if it differs.
const struct sigaction* kernel_view(int signal, const struct sigaction* fresh,
                                    struct sigaction& extended);
// Removes from an answer of sigaction(2) what the collector had added. added: added_masks() before
// the call.
void program_view(int signal, std::uint64_t added, struct sigaction* old);
std::uint64_t added_masks();

}  // namespace gnomon::collector
