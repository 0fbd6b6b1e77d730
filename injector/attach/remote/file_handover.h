// Files for a process that cannot open them by their paths: another root, another mount namespace,
// another user. They come to it through a socket of its own, as descriptors. Any thread.
#pragma once
#include <sys/types.h>

#include <string>

#include "injector/attach/remote/namespace_view.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// A fault: nothing can be handed to it. It is not touched.
Result<void> check_handover(pid_t pid);

// An experiment's directory stem.N.er with the first free N, whose files are to belong to `owner`.
Result<std::string> make_experiment(const std::string& stem, const Owner& owner);

// Sends descriptors of both through the process's descriptor `socket`, in this order. After a fault
// it waits for them no longer.
Result<void> hand(pid_t pid, int socket, const std::string& library, const std::string& directory);
// Tells it that nothing comes.
void hand_nothing(pid_t pid, int socket);

}  // namespace gnomon::injector
