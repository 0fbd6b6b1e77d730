// Finds the experiment that a run of this session wrote. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace gnomon::commands {

// Of the experiments stem.er and stem.N.er of those stems the one that began last, whose header
// carries the session word and, unless pid is 0, the pid: pids alone repeat. Empty: none.
std::string find_experiment(std::span<const std::string> stems, std::uint64_t session,
                            std::uint64_t pid);

}  // namespace gnomon::commands
