// Finds the experiment that a run of this session wrote. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace gnomon::commands {

// Returns the path of the newest experiment stem.er or stem.N.er, for any of the stems, that was
// recorded in this session and, unless pid is 0, of this process. Empty: there is none. The session
// is compared because pids repeat.
std::string find_experiment(std::span<const std::string> stems, std::uint64_t session,
                            std::uint64_t pid);

}  // namespace gnomon::commands
