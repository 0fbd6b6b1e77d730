// Counters that Gnomon knows by a short name, and names that libraries know. In gnomon-counters.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/counters/definition.h"
#include "libcollector/format/counters.h"

namespace gnomon::counters {

// A counter under the name that users type, and what a list says of it.
struct Known {
  format::Counter counter;
  std::string alias_of;       // another name; empty: it has none
  std::string type;           // load-store: it is about data in memory; empty: about none
  bool needs_kernel = false;  // it counts nothing for who may not see the kernel
  bool is_memory() const { return !type.empty(); }
};

inline constexpr std::uint64_t kRawInterval =
    1'000'003;  // of events without an interval of their own

// The kernel's own counters that count something at all: others can be opened, too, and count
// nothing. And short names of hardware events.
std::vector<Known> aliased();

// Names of libpfm4. Returns what is wrong with the name, and fills in type, config and the like.
Refusal encode(const Definition& definition, format::Counter& counter);
// Calls visit(counter) for every event of the processors here that libpfm4 knows.
void each_raw(const std::function<void(const Known&)>& visit);

// PAPI's presets that one event stands for, as PAPI says: whether they count is to be tried.
std::vector<Known> presets();

}  // namespace gnomon::counters
