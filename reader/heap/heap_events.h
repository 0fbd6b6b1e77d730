// What recorded events tell of blocks of memory. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "reader/experiment/event.h"
#include "reader/heap/heap_blocks.h"

namespace gnomon::reader {

class HeapEvents {
 public:
  // mean: bytes between two samples, on average; 0: every allocation was recorded.
  explicit HeapEvents(std::uint64_t mean) : mean_(mean) {}

  // None: the event is about something else. time: of the event. An allocation of s bytes is
  // recorded with the probability p = 1 - exp(-s / mean), so that it stands for 1 / p of them.
  // (pprof, "heap profile: sampling by bytes".)
  std::optional<HeapEvent> of(const Event& event, std::uint64_t time);
  bool are_sampled() const { return mean_ != 0; }
  // The events to come are described by other objects than those so far.
  void forget_layouts() { fields_ = {}; }

 private:
  struct Fields {
    bool is_known = false;  // the kind was looked at
    std::optional<HeapChange> change;
    std::optional<EventLayout::Field> address, size, stack;
  };
  const Fields& fields_of(const EventLayout& layout);
  HeapAmount amount_of(std::uint64_t size);

  std::uint64_t mean_;
  std::array<Fields, 256> fields_{};         // by event kind
  double blocks_left_ = 0, bytes_left_ = 0;  // what rounding has left of earlier amounts
};

}  // namespace gnomon::reader
