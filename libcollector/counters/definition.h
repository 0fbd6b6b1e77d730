// Counter definitions as users write them: [+]NAME[~ATTRIBUTE=VALUE]...[,INTERVAL]. Any process:
// plain text. (Sun Studio's collect(1), "-h"; dbx's `collector hwprofile counter`.)
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnomon::counters {

struct Definition {
  std::string name;
  bool wants_address = false;                                   // `+`
  std::vector<std::pair<std::string, std::string>> attributes;  // name, value
  std::string interval;                                         // on, hi, lo or a number
};

// What is wrong, and what to do instead; empty: nothing.
struct Refusal {
  std::string what, next;
};

// Takes apart words such as "cycles,hi,page-faults" into `found`.
Refusal parse(const std::vector<std::string>& words, std::vector<Definition>& found);

// Returns the counts between two samples that the word means; 0: it is none. usual: those of `on`.
std::uint64_t interval_of(std::string_view word, std::uint64_t usual);

}  // namespace gnomon::counters
