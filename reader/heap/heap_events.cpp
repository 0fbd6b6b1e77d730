// What recorded events tell of blocks of memory. Any thread, one at a time.
#include "reader/heap/heap_events.h"

#include <algorithm>
#include <cmath>

namespace gnomon::reader {
namespace {

std::uint64_t take_whole(double& amount) {
  const double whole = std::floor(amount);
  amount -= whole;
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

const HeapEvents::Fields& HeapEvents::fields_of(const EventLayout& layout) {
  Fields& fields = fields_[layout.id];
  if (fields.is_known) return fields;
  fields.is_known = true;
  if (layout.name == "allocation") fields.change = HeapChange::allocated;
  if (layout.name == "free") fields.change = HeapChange::freed;
  if (layout.name == "kept") fields.change = HeapChange::kept;
  const auto find = [&](const char* name, std::optional<EventLayout::Field>& to) {
    if (const EventLayout::Field* field = layout.field(name)) to = *field;
  };
  find("address", fields.address);
  find("size", fields.size);
  find("stack", fields.stack);
  return fields;
}

HeapAmount HeapEvents::amount_of(std::uint64_t size) {
  if (mean_ == 0) return {1, size};
  const double bytes = static_cast<double>(std::max<std::uint64_t>(size, 1));
  const double stands_for = -1 / std::expm1(-bytes / static_cast<double>(mean_));
  blocks_left_ += stands_for;
  bytes_left_ += static_cast<double>(size) * stands_for;
  return {take_whole(blocks_left_), take_whole(bytes_left_)};
}

std::optional<HeapEvent> HeapEvents::of(const Event& event, std::uint64_t time) {
  const Fields& fields = fields_of(event.layout);
  if (!fields.change || !fields.address) return std::nullopt;
  HeapEvent change;
  change.time = time;
  change.address = event.value(*fields.address);
  change.change = *fields.change;
  if (fields.size) change.size = event.value(*fields.size);
  if (fields.stack) change.stack = static_cast<std::uint32_t>(event.value(*fields.stack));
  if (change.change == HeapChange::allocated) change.amount = amount_of(change.size);
  return change;
}

}  // namespace gnomon::reader
