// Exclusive and inclusive values of the places of one grain: lines, or instructions. Any thread,
// one at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reader/analysis/profile_style.h"
#include "reader/analysis/stack_frames.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/lines/places.h"
#include "reader/metrics/call_tree.h"

namespace gnomon::reader {

// Exclusive: the place is a leaf's. Inclusive: the place is anywhere on the stack, counted once a
// stack however often it recurs. (Sun Studio Performance Analyzer, "Inclusive and exclusive
// metrics" of source lines.)
struct PlaceValues {
  std::uint64_t total = 0;
  Values exclusive, inclusive;  // by PlaceId
};

class PlaceProfile {
 public:
  // sums, places: must outlive the profile. style: which frames there are. Fault: the user
  // interrupted.
  static Result<PlaceProfile> build(const AllSums& sums, const StackFrames& frames, Places& places,
                                    Grain grain, const ProfileStyle& style,
                                    const Interrupt& interrupt);

  Grain grain() const { return grain_; }
  const Places& places() const { return *places_; }
  const Place& place(PlaceId id) const { return places_->place(grain_, id); }
  std::size_t size() const { return size_; }
  PlaceId total() const { return total_; }
  // What a call stack of a part passes, from the innermost. Empty if the part has no such stack.
  std::vector<PlaceId> path_of(std::size_t part, std::uint32_t stack) const;
  // Computed when first asked for.
  const PlaceValues& values(MetricId metric) const;

 private:
  PlaceProfile(const AllSums& sums, const Places& places, Grain grain)
      : sums_(&sums), places_(&places), grain_(grain), values_(kMostMetrics) {}
  void find_recursion();

  struct Item {
    static constexpr PlaceId kNone{~0u};
    PlaceId place = kNone;
    std::uint32_t caller = 0;
    bool recurs = false;  // the place is also further out on the stack
  };
  const AllSums* sums_;
  const Places* places_;
  Grain grain_;
  std::size_t size_ = 0;                                        // places
  PlaceId total_{};                                             // <Total>
  std::size_t stacks_ = 0;                                      // frames of the machine's
  std::vector<std::uint32_t> first_;                            // of each part
  std::vector<std::pair<std::uint32_t, std::uint32_t>> inner_;  // frames, and what stands for them
  LargeVector<Item> items_;           // by frame; behind them those of inlined functions
  LargeVector<std::uint32_t> order_;  // of the items: a caller before what it calls
  mutable std::vector<std::optional<PlaceValues>> values_;
};

}  // namespace gnomon::reader
