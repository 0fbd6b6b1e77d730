// What events add to the metrics of memory, when those of a part are read once more. Any thread,
// one at a time.
#pragma once
#include <cstdint>
#include <optional>

#include "reader/analysis/part.h"
#include "reader/heap/heap_events.h"
#include "reader/metrics/sums.h"

namespace gnomon::reader {

class HeapValues {
 public:
  // The part has to be up to date, and must outlive the object.
  explicit HeapValues(Part& part) : part_(part), events_(part.heap_mean()) {}

  struct Amounts {
    HeapAmount allocated, leaked;
  };
  // None: the event is no allocation.
  std::optional<Amounts> of(const Event& event) {
    const std::uint64_t time = part_.time_of(event);
    const auto change = events_.of(event, time);
    if (!change || change->change != HeapChange::allocated) return std::nullopt;
    const HeapBlock* const block = part_.heap().live(change->address);
    const bool is_leaked = block && block->time == time && block->is_chosen;
    return Amounts{change->amount, is_leaked ? block->amount : HeapAmount{}};
  }

  // Adds the event's values to those of `key`.
  void add(const Event& event, std::uint32_t key, Sums& sums) {
    const auto amounts = of(event);
    if (!amounts) return sums.add(event, key);
    sums.add(event.layout.name, key, amounts->allocated.blocks, amounts->allocated.bytes);
    if (amounts->leaked.blocks != 0)
      sums.add(kLeakEvent, key, amounts->leaked.blocks, amounts->leaked.bytes);
  }

 private:
  Part& part_;
  HeapEvents events_;
};

}  // namespace gnomon::reader
