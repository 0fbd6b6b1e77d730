// Finds the experiment that a run of this session wrote. Any thread.
#pragma once
#include <cstdint>
#include <string>

namespace gnomon::commands {

// The newest stem.N.er whose header carries the session word and, unless pid is 0, the pid: pids
// alone repeat. Empty: none.
std::string find_experiment(const std::string& stem, std::uint64_t session, std::uint64_t pid);

}  // namespace gnomon::commands
