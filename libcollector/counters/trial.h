// Whether the kernel counts an event: it is opened on this program itself. In gnomon-counters.
#pragma once
#include <cstdint>
#include <vector>

#include "libcollector/format/counters.h"

namespace gnomon::counters {

// Returns 0 if the kernel opens the event, else errno. It leaves out its own part if it has to, and
// then sets is_of_system to false.
int try_event(format::Counter& counter);

// What was seen of an event that ran for a moment beside others. bytes: that read(2) gave.
struct Turn {
  std::int64_t bytes = 0;
  std::uint64_t enabled = 0, running = 0;  // ns
};
// Returns true if the event had a counter all the time.
constexpr bool had_a_counter(const Turn& turn) {
  return turn.bytes > 0 && turn.enabled != 0 && turn.running == turn.enabled;
}

// Returns the first counter that cannot be counted together with those before it; the number of
// all if all can.
std::size_t first_without_room(const std::vector<format::Counter>& counters);

}  // namespace gnomon::counters
