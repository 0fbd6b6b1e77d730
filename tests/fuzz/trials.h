// What programs that damage files have in common: their command line, and the count of what went
// wrong.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gnomon::fuzz {

// SCRATCH COUNT RANDOM FILE...
struct Trials {
  std::string scratch;
  int count;
  std::uint64_t first;  // seed of the first trial
  std::vector<std::string> files;

  static std::optional<Trials> parse(int argc, char** argv) {
    if (argc < 5) {
      std::fputs("SCRATCH COUNT RANDOM FILE...\n", stderr);
      return std::nullopt;
    }
    return Trials{argv[1],
                  std::atoi(argv[2]),
                  static_cast<std::uint64_t>(std::atoll(argv[3])),
                  {argv + 4, argv + argc}};
  }

  // trial(random): what was tried and what went wrong, the latter empty: nothing. Returns the exit
  // status of the program.
  template <typename Trial>
  int run(const char* what, Trial trial) const {
    int wrong = 0;
    for (int number = 0; number < count; ++number) {
      const std::uint64_t seed = first + static_cast<std::uint64_t>(number);
      std::mt19937_64 random(seed);
      const auto& [tried, said] = trial(random);
      if (said.empty()) continue;
      ++wrong;
      fmt::print("{} {}: {}\n", seed, tried, said);
      std::error_code error;  // what was tried stays beside SCRATCH
      std::filesystem::copy(scratch, fmt::format("{}.{}", scratch, seed),
                            std::filesystem::copy_options::recursive, error);
      std::fflush(stdout);
    }
    fmt::print("{} damaged {}, {} wrong\n", count, what, wrong);
    return wrong == 0 ? 0 : 1;
  }
};

}  // namespace gnomon::fuzz
