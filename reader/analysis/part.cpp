// One experiment of an analysis: its events summed up. Any thread, one at a time.
#include "reader/analysis/part.h"

#include <algorithm>
#include <cstring>

namespace gnomon::reader {

Result<std::unique_ptr<Part>> Part::open(const std::string& directory,
                                         std::shared_ptr<Instants> instants, std::uint32_t number) {
  auto recording = Recording::open(directory);
  if (!recording) return tl::unexpected(recording.error());
  return std::unique_ptr<Part>(new Part(std::move(*recording), std::move(instants), number));
}

Part::Part(Recording recording, std::shared_ptr<Instants> instants, std::uint32_t number)
    : recording_(std::move(recording)),
      instants_(std::move(instants)),
      number_(number),
      room_(recording_.experiment().directory),
      sampled_(recording_.experiment().control.start_time),
      heap_events_(
          format::heap_mean(recording_.experiment().header.settings[format::Setting::heaptrace])) {
  for (const CounterLine& counter : recording_.experiment().counters)
    know_counter(counter.name, counter.title, counter.megahertz != 0);
  // Clock samples that came late: the kernel's own tick, 10 ms at most, is no delay.
  sums_.set_limit(kTotalCpu, 2 * recording_.experiment().header.interval.value + 10'000'000);
}

void Part::limit_to(const Span& span, std::optional<EventValue> filter) {
  span_ = span;
  if (filter) filter_.emplace(std::move(*filter));
}

const Part::Fields& Part::fields_of(const EventLayout& layout) {
  Fields& fields = fields_[layout.id];
  if (fields.are_known) return fields;
  const auto field_of = [&](std::string_view name) {
    const auto* const found = layout.field(name);
    return found ? std::optional(*found) : std::nullopt;
  };
  fields = {true, std::nullopt, field_of("length"), field_of("weight")};
  for (const EventLayout::Field& each : layout.fields)
    if (each.unit == format::Unit::time) fields.time = each;
  return fields;
}

// A kind without a time lies in no span but the whole recording.
std::uint64_t Part::time_of(const Event& event) {
  const Fields& fields = fields_of(event.layout);
  return fields.time ? event.value(*fields.time) : 0;
}

bool Part::is_in_span(const Event& event) {
  if (span_.is_whole()) return true;
  const std::uint64_t end = time_of(event);
  const Fields& fields = fields_of(event.layout);
  const std::uint64_t length = fields.length ? event.value(*fields.length) : 0;
  return span_.contains(end) || (length != 0 && end > span_.end && end - length < span_.end);
}

Event Part::span_part(const Event& event) {
  const Fields& fields = fields_of(event.layout);
  if (span_.is_whole() || !fields.length || !fields.weight) return event;
  const std::uint64_t length = event.value(*fields.length), end = time_of(event);
  if (length == 0 || length > end || event.layout.size > part_.size()) return event;
  const std::uint64_t from = std::max(end - length, span_.begin), to = std::min(end, span_.end);
  if (from == end - length && to == end) return event;
  const double share = static_cast<double>(to - from) / static_cast<double>(length);
  const auto weight =
      static_cast<std::uint64_t>(share * static_cast<double>(event.value(*fields.weight)));
  std::memcpy(part_.data(), event.record, event.layout.size);
  std::memcpy(part_.data() + fields.weight->offset, &weight, fields.weight->width);
  return {event.layout, part_.data(), event.block};
}

std::uint32_t Part::thread_of(const Event& event) {
  if (event.layout.is_compact) return event.block.thread;
  const auto thread = std::find_if(
      event.layout.fields.begin(), event.layout.fields.end(),
      [](const EventLayout::Field& each) { return each.unit == format::Unit::thread; });
  return thread == event.layout.fields.end() ? 0 : static_cast<std::uint32_t>(event.value(*thread));
}

tl::unexpected<Fault> Part::wrong_stack() const {
  return fault(experiment().directory + " is damaged: an event has a wrong call stack",
               "record again");
}

Result<bool> Part::contains(const Event& event, const Interrupt& interrupt) {
  if (!is_in_span(event)) return false;
  if (!filter_) return true;
  if (!sums_.has_stack_of(event, room_)) return wrong_stack();
  const auto value = filter_->of(event, interrupt);
  if (!value) return tl::unexpected(value.error());
  return value->value_or(0) != 0;
}

// A leak is an allocation that was chosen and not freed since, in the span or later. (Sun Studio
// Performance Analyzer, "Heap Tracing Information".)
void Part::sum_up_leaks() {
  if (heap_.is_empty()) return;
  heap_.settle();
  sums_.forget(kLeakEvent);
  heap_.each([&](std::uint64_t, const HeapBlock& block) {
    if (block.is_chosen)
      sums_.add(kLeakEvent, block.stack, block.amount.blocks, block.amount.bytes);
  });
}

Result<void> Part::add(const Event& whole, const Interrupt& interrupt) {
  const std::uint64_t time = time_of(whole);
  last_event_ = std::max(last_event_, time);
  bool is_chosen = is_in_span(whole);
  const Event event = is_chosen ? span_part(whole) : whole;
  if (is_chosen) ++events_of_span_;
  if (is_chosen && filter_) {
    const auto fits = contains(event, interrupt);
    if (!fits) return tl::unexpected(fits.error());
    is_chosen = *fits;
  }
  auto heap = heap_event(event);
  if (heap) {
    heap->is_chosen = is_chosen;
    heap_.add(*heap, event.block.time);
  }
  if (!is_chosen) return {};
  ++events_that_fit_;
  ++events_[event.layout.id];
  const std::uint64_t before = sums_.total(kTotalCpu);
  if (heap && heap->change == HeapChange::allocated && heap_events_.are_sampled()) {
    if (!room_.has(heap->stack)) return wrong_stack();
    sums_.add(std::string(row(kAllocations).event), heap->stack, heap->amount.blocks,
              heap->amount.bytes);
  } else if (!sums_.add(event, room_)) {
    return wrong_stack();
  }
  const std::uint64_t sampled = sums_.total(kTotalCpu) - before;
  sampled_.add(time, sampled);
  if (const std::uint32_t thread = thread_of(event); sampled != 0 && thread != last_thread_)
    threads_.insert(last_thread_ = thread);
  return {};
}

// A filter may be about the samples that end the parts of a recording.
Result<bool> Part::update(const Interrupt& interrupt) {
  if (filter_) instants_->read_new(experiment());
  const auto news =
      recording_.update(interrupt, [&](const Event& event) { return add(event, interrupt); });
  instants_->read_new(experiment());
  if (!news) return tl::unexpected(news.error());
  if (*news) sum_up_leaks();
  return *news;
}

std::span<const Sample> Part::span_samples() const {
  const std::vector<Sample>& all = samples().all();
  const auto earlier = [](const Sample& sample, std::uint64_t time) { return sample.time < time; };
  const auto begin = std::lower_bound(all.begin(), all.end(), span_.begin, earlier);
  const auto end = span_.end == Span::kOpen
                       ? all.end()
                       : std::lower_bound(all.begin(), all.end(), span_.end + 1, earlier);
  return {begin, std::max(begin, end)};
}

}  // namespace gnomon::reader
