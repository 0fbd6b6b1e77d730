// Events of an experiment, summed per call stack: each event is touched once. Any thread.
#include "reader/experiment/events.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "libcollector/format/names.h"
#include "libcollector/format/stacks.h"
#include "reader/experiment/data_file.h"

namespace gnomon::reader {
namespace {

class ProfileSum {
 public:
  explicit ProfileSum(const Experiment& experiment) : experiment_(experiment) {}

  Result<void> add(const Event& event) {
    if (event.layout.id != format::kClockSample) return {};
    const auto* stack = event.layout.field("stack");
    const auto* weight = event.layout.field("weight");
    if (!stack || !weight) return fault("a clock sample has no stack or no weight");
    const std::uint64_t id = event.value(*stack);
    if (!is_stack(id))
      return fault(experiment_.directory + " is damaged: an event has a wrong call stack",
                   "record again");
    if (id >= sums.by_stack.size())
      sums.by_stack.resize(std::max<std::size_t>(id + 1, sums.by_stack.size() * 2));
    for (StackSum* sum : {&sums.by_stack[id], &sums.total}) {
      sum->time += {event.value(*weight)};
      ++sum->samples;
    }
    return {};
  }

  ClockSums sums;

 private:
  // The table has room for a stack before an event names it, so what is beyond its end is damage.
  bool is_stack(std::uint64_t id) {
    if (id < stacks_) return true;
    std::error_code none;
    const auto bytes =
        std::filesystem::file_size(experiment_.directory + "/" + format::kStacksFile, none);
    if (!none && bytes > format::kStackNodesOffset)
      stacks_ = (bytes - format::kStackNodesOffset) / sizeof(format::StackNode);
    return id < stacks_;
  }

  const Experiment& experiment_;
  std::uint64_t stacks_ = 0;
};

}  // namespace

Result<ClockSums> sum_clock_samples(const Experiment& experiment, const Interrupt& interrupt) {
  std::optional<LaneCopies> lanes;
  if (!experiment.closed) {
    auto copies = LaneCopies::read(experiment);
    if (!copies) return tl::unexpected(copies.error());
    lanes = std::move(*copies);
  }
  ProfileSum sum(experiment);
  DataFile file(static_cast<std::uint16_t>(format::DataKind::profile));
  auto read = file.read_new(experiment, lanes ? &*lanes : nullptr, interrupt,
                            [&](const Event& event) { return sum.add(event); });
  if (!read) return tl::unexpected(read.error());
  return std::move(sum.sums);
}

// The recording may end in order, which removes its lanes, after the experiment was opened.
Result<Recording> open_recording(const std::string& directory, const Interrupt& interrupt) {
  for (int attempt = 0;; ++attempt) {
    auto experiment = open_experiment(directory);
    if (!experiment) return tl::unexpected(experiment.error());
    auto events = sum_clock_samples(*experiment, interrupt);
    if (events) return Recording{std::move(*experiment), std::move(*events)};
    const auto now = open_experiment(directory);
    if (experiment->closed || !now || !now->closed || attempt != 0)
      return tl::unexpected(events.error());
  }
}

}  // namespace gnomon::reader
