// Hands files to a process that cannot open them by path (another root, mount namespace or user):
// as descriptors, through a socket of the process's own. Any thread.
#pragma once
#include <sys/types.h>

#include <string>

#include "injector/attach/remote/namespace_view.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Returns a Fault if nothing can be handed to the process. Changes nothing in it.
Result<void> check_handover(pid_t pid);

// Makes an experiment's directory stem.N.er with the first free N from `first` on (0: stem.er), for
// files of `owner`. Returns its path.
Result<std::string> make_experiment(const std::string& stem, std::uint64_t first,
                                    const Owner& owner);

// Sends descriptors of both, in this order, through the process's own descriptor `socket`. After a
// Fault the process no longer waits for them.
Result<void> hand(pid_t pid, int socket, const std::string& library, const std::string& directory);
// Tells the process that nothing will be sent.
void hand_nothing(pid_t pid, int socket);

}  // namespace gnomon::injector
