// What reports on functions start from: the call tree of the events, and every metric's values in
// it. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/analysis/all_sums.h"
#include "reader/analysis/profile_style.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/lines/places.h"
#include "reader/metrics/attributed.h"
#include "reader/metrics/call_tree.h"
#include "reader/metrics/functions.h"
#include "reader/metrics/metric_list.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {

struct MetricValues {
  std::uint64_t total = 0;
  Values exclusive, inclusive;  // by node of the tree
  FunctionValues functions;     // by FunctionId
  // Of stacks by how their walk ended, and of those with guessed callers.
  std::array<std::uint64_t, format::kWalkEnds> by_end{};
  std::uint64_t guessed = 0;
  std::uint64_t truncated() const;
};

class Profile {
 public:
  // sums: must outlive the profile. places: tells the inlined functions, if the style has them.
  // Fault: an event names a call stack that is not there, or the user interrupted.
  static Result<Profile> build(const AllSums& sums, AddressSpace& space, Places& places,
                               const ProfileStyle& style, const Interrupt& interrupt);

  const CallTree& tree() const { return tree_; }
  FunctionId total() const { return tree_.node(CallId::total).function; }
  std::size_t functions() const { return names_.size(); }
  // No two with their parameters are alike that lie in different load objects.
  const std::string& name(FunctionId id) const { return names_[index(id)]; }
  const Function& function(FunctionId id) const { return functions_[index(id)]; }
  // Computed when first asked for.
  const MetricValues& values(MetricId metric) const;
  // Of a function; flavour attributed: its inclusive value. Of <Total> always the total.
  std::uint64_t value(Flavour flavour, MetricId metric, FunctionId function) const {
    const MetricValues& all = values(metric);
    if (function == total()) return all.total;
    return (flavour == Flavour::exclusive ? all.functions.exclusive
                                          : all.functions.inclusive)[index(function)];
  }
  // Where a stack of a part (from 0) ends in the tree; <Total>: the profile has no such stack.
  CallId place(std::size_t part, StackId stack) const {
    const std::size_t end = part + 1 < first_.size() ? first_[part + 1] : place_.size();
    const std::size_t at = first_[part] + index(stack);
    return index(stack) != 0 && at < end ? place_[at] : CallId::total;
  }
  // By FunctionId; computed when first asked for.
  const std::vector<Neighbours>& neighbours_by(MetricId metric) const;

 private:
  Profile(const AllSums& sums, CallTree tree) : sums_(&sums), tree_(std::move(tree)) {}

  const AllSums* sums_;
  CallTree tree_;
  std::vector<std::uint32_t> first_;  // frames of each part, in the following
  LargeVector<CallId> place_;         // by frame
  LargeVector<std::uint8_t> marks_;   // by frame: the walk's mark; 0: none
  std::vector<std::string> names_;
  std::vector<Function> functions_;
  mutable std::vector<std::optional<MetricValues>> values_;
  mutable std::vector<std::optional<std::vector<Neighbours>>> neighbours_;
};

}  // namespace gnomon::reader
