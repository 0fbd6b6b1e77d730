// One experiment of an analysis, or a span of it: its events summed up. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>

#include "reader/analysis/by_time.h"
#include "reader/analysis/span.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/recording.h"
#include "reader/filter/event_value.h"
#include "reader/heap/heap_blocks.h"
#include "reader/heap/heap_events.h"
#include "reader/metrics/sums.h"
#include "reader/samples/instants.h"

namespace gnomon::reader {

class Part {
 public:
  // Reads no event yet. instants: those of the experiment. number: from 1, among those of one
  // analysis.
  static Result<std::unique_ptr<Part>> open(const std::string& directory,
                                            std::shared_ptr<Instants> instants,
                                            std::uint32_t number);

  // Only the events of a span count, and of those only the ones for which `filter` is true; none:
  // all count. To be called before the first `update`.
  void limit_to(const Span& span, std::optional<EventValue> filter);
  // Reads what was written since the last call. Returns true if there are new events. After a fault
  // the object is of no more use.
  Result<bool> update(const Interrupt& interrupt);

  std::uint32_t number() const { return number_; }
  const Experiment& experiment() const { return recording_.experiment(); }
  const Stacks& stacks() const { return recording_.stacks(); }
  const Span& span() const { return span_; }
  const Instants& instants() const { return *instants_; }
  // Of the whole recording, and those from the span's begin to its end.
  const Samples& samples() const { return instants_->samples; }
  std::span<const Sample> span_samples() const;
  const Sums& sums() const { return sums_; }
  // CPU time that the clock samples up to an instant stand for, ns.
  std::uint64_t sampled_until(std::uint64_t time) const { return sampled_.until(time); }
  // When the clock's latest sample was taken, CLOCK_MONOTONIC, ns; 0: there is none.
  std::uint64_t last_tick() const { return sampled_.last(); }
  // Returns true if the clock has sampled the thread in the span.
  bool has_sampled(std::uint32_t thread) const { return threads_.contains(thread); }
  // Where they come from.
  const Recording& recording() const { return recording_; }
  // Events of a kind.
  std::uint64_t events(std::uint8_t kind) const { return events_[kind]; }
  // When the latest event was recorded, CLOCK_MONOTONIC, ns; 0: there is none.
  std::uint64_t last_event() const { return last_event_; }
  // When the event was recorded, or ended, CLOCK_MONOTONIC, ns, 0: not known; and in which thread.
  std::uint64_t time_of(const Event& event);
  static std::uint32_t thread_of(const Event& event);
  // Returns true if the event lies in the span and fits the filter. Fault: damage, or the user
  // interrupted.
  Result<bool> contains(const Event& event, const Interrupt& interrupt);
  // What is allocated.
  const HeapBlocks& heap() const { return heap_; }
  // Bytes between two samples of allocations, on average; 0: every one was recorded.
  std::uint64_t heap_mean() const {
    return format::heap_mean(experiment().header.settings[format::Setting::heaptrace]);
  }
  // What the event tells of a block of memory.
  std::optional<HeapEvent> heap_event(const Event& event) {
    return heap_events_.of(event, time_of(event));
  }
  bool has_filter() const { return filter_.has_value(); }
  // Events of the span, and those among them that fit the filter.
  std::uint64_t events_of_span() const { return events_of_span_; }
  std::uint64_t events_that_fit() const { return events_that_fit_; }
  // Calls visit(event) for each event of the recording, once more from the first on. Fault: damage,
  // the user interrupted, or `visit` returned it.
  template <typename Visit>
  Result<void> each_recorded(const Interrupt& interrupt, Visit visit) {
    auto recording = Recording::open(experiment().directory);
    if (!recording) return tl::unexpected(recording.error());
    auto read = recording->update(interrupt, visit);
    return read ? Result<void>() : tl::unexpected(read.error());
  }
  // Likewise for each that the object `contains`.
  template <typename Visit>
  Result<void> each_event(const Interrupt& interrupt, Visit visit) {
    return each_recorded(interrupt, [&](const Event& event) -> Result<void> {
      const auto is_one = contains(event, interrupt);
      if (!is_one) return tl::unexpected(is_one.error());
      return *is_one ? visit(span_part(event)) : Result<void>();
    });
  }

 private:
  Part(Recording recording, std::shared_ptr<Instants> instants, std::uint32_t number);
  Result<void> add(const Event& event, const Interrupt& interrupt);
  tl::unexpected<Fault> wrong_stack() const;
  bool is_in_span(const Event& event);
  // Returns the event, or if it is spread over time and only a part of that lies in the span, a
  // copy with that part of its weight. The copy is valid until the next call.
  Event span_part(const Event& event);
  void sum_up_leaks();

  Recording recording_;
  std::shared_ptr<Instants> instants_;
  std::uint32_t number_;
  Span span_;
  std::optional<EventValue> filter_;
  std::uint64_t events_of_span_ = 0, events_that_fit_ = 0;
  StackRoom room_;
  Sums sums_;
  ByTime sampled_;
  HeapBlocks heap_;
  HeapEvents heap_events_;
  std::array<std::uint64_t, 256> events_{};
  // By event kind.
  struct Fields {
    bool are_known = false;
    std::optional<EventLayout::Field> time, length, weight;
  };
  const Fields& fields_of(const EventLayout& layout);
  std::array<Fields, 256> fields_;
  std::array<std::byte, 256> part_;  // of an event, its record
  std::uint64_t last_event_ = 0;
  std::unordered_set<std::uint32_t> threads_;  // that the clock has sampled
  std::uint32_t last_thread_ = 0;              // the latest of those
};

}  // namespace gnomon::reader
