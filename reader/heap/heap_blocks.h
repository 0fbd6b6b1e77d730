// Blocks of memory of a recorded program: which allocation a free is about, and what is allocated.
// Any thread, one at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "reader/base/flat_map.h"
#include "reader/heap/events_in_order.h"
#include "reader/heap/heap_statistics.h"

namespace gnomon::reader {

enum class HeapChange : std::uint8_t { allocated, freed, kept };

struct HeapEvent {
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes; of an allocation
  HeapAmount amount;       // likewise, what it stands for
  std::uint32_t stack = 0;
  HeapChange change = HeapChange::allocated;
  bool is_chosen = false;  // the span and the filter contain the event
};

// Events come thread by thread, a piece of a recording at a time; what happened to a block is known
// in order of their times.
class HeapBlocks {
 public:
  // begin: when the piece was begun in which the event stands. Pieces come in order of their
  // beginnings, give or take kSlack.
  void add(const HeapEvent& event, std::uint64_t begin);
  // Applies what has come so far; to be called when everything up to now has.
  void settle();

  // Calls visit(address, block) for what is allocated, in no order. To be called after `settle`.
  template <typename Visit>
  void each(Visit visit) const {
    live_.for_each(visit);
  }
  // What is allocated at an address; null: nothing. To be called after `settle`.
  const HeapBlock* live(std::uint64_t address) const { return live_.find(address); }
  bool is_empty() const { return newest_ == 0; }
  // Blocks whose place was allocated again although no call that gave them back was recorded.
  std::uint64_t missed_frees() const { return missed_frees_; }
  // Of the allocations that were chosen.
  const HeapStatistics& statistics() const { return statistics_; }

 private:
  static constexpr std::uint64_t kSlack = 50'000'000;   // ns
  static constexpr std::size_t kManyWaiting = 1 << 16;  // events

  struct Freed {
    std::uint64_t address = 0;
    HeapBlock block;
  };

  void apply_until(std::uint64_t time);
  void free(const HeapEvent& event);
  void keep(const HeapEvent& event);
  void apply(const HeapEvent& event);

  HeapStatistics statistics_;
  std::uint64_t allocations_ = 0, missed_frees_ = 0;
  FlatMap<HeapBlock> live_;          // by address
  std::array<Freed, 1024> freed_{};  // the latest: realloc may turn out to have failed
  std::size_t next_freed_ = 0;
  FlatMap<std::uint64_t> early_frees_;  // of blocks whose allocation has not come: when
  EventsInOrder<HeapEvent> waiting_;
  std::uint64_t newest_begin_ = 0, newest_ = 0;
};

}  // namespace gnomon::reader
