// Waits of threads for others, as they were recorded. Any thread, one at a time.
#include "reader/report/traced/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "reader/metrics/event_metric.h"
#include "reader/report/traced/tracer_text.h"

namespace gnomon::reader {
namespace {

// Where the values of a kind of event stand; what a kind lacks is 0.
class WaitFields {
 public:
  explicit WaitFields(const EventLayout& layout)
      : object_(layout.field("object")),
        duration_(layout.field("duration")),
        kind_(layout.field("kind")),
        holder_(layout.field("holder")),
        stack_(layout.field("stack")),
        state_(layout.field("state")),
        weight_(layout.field("weight")),
        length_(layout.field("length")),
        cpu_(EventMetric::bind(row(kTotalCpu), layout)) {}

  RecordedWait wait_of(const Event& event, std::uint64_t end, bool is_chosen) const {
    const std::uint64_t duration = std::min(end, value(event, duration_));
    return {end - duration,
            end,
            value(event, object_),
            static_cast<std::uint32_t>(value(event, kind_)),
            Part::thread_of(event),
            static_cast<std::uint32_t>(value(event, holder_)),
            static_cast<std::uint32_t>(value(event, stack_)),
            is_chosen};
  }
  // Without a weight: the thread was not on a CPU.
  TakenSample sample_of(const Event& event, std::uint64_t time) const {
    return {time, cpu_ ? cpu_->of(event).value_or(0) : 0,
            static_cast<std::uint32_t>(value(event, stack_))};
  }
  // Of an event that is no sample: begin equals end if it does not tell how long it lasted.
  RecordedRest rest_of(const Event& event, std::uint64_t end) const {
    return {end - std::min(end, value(event, length_)), end, value(event, weight_),
            static_cast<format::ThreadState>(value(event, state_)),
            static_cast<std::uint32_t>(value(event, stack_))};
  }

 private:
  static std::uint64_t value(const Event& event, const EventLayout::Field* field) {
    return field ? event.value(*field) : 0;
  }
  const EventLayout::Field *object_, *duration_, *kind_, *holder_, *stack_, *state_, *weight_,
      *length_;
  std::optional<EventMetric> cpu_;
};

}  // namespace

CpuTimes::CpuTimes(std::vector<UsedCpus> stretches) : stretches_(std::move(stretches)) {
  std::stable_sort(stretches_.begin(), stretches_.end(),
                   [](const UsedCpus& a, const UsedCpus& b) { return a.end < b.end; });
}

// A stretch is idle evenly.
std::uint64_t CpuTimes::idle(std::uint64_t begin, std::uint64_t end) const {
  auto at =
      std::upper_bound(stretches_.begin(), stretches_.end(), begin,
                       [](std::uint64_t time, const UsedCpus& each) { return time < each.end; });
  double sum = 0;
  for (; at != stretches_.end() && at->end - at->length < end; ++at) {
    const std::uint64_t from = std::max(begin, at->end - at->length), to = std::min(end, at->end);
    if (from < to)
      sum += static_cast<double>(to - from) * static_cast<double>(at->idle) /
             static_cast<double>(at->length);
  }
  return static_cast<std::uint64_t>(sum);
}

Result<CpuTimes> cpu_times_of(Part& part, const Interrupt& interrupt) {
  std::vector<UsedCpus> stretches;
  const auto read = part.each_recorded(interrupt, [&](const Event& event) -> Result<void> {
    if (event.layout.name != kUseEvent) return {};
    const auto* const length = event.layout.field("length");
    const auto* const idle = event.layout.field("idle");
    const std::uint64_t end = part.time_of(event);
    if (length && idle && event.value(*length) != 0 && event.value(*length) <= end)
      stretches.push_back({end, event.value(*length), event.value(*idle)});
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return CpuTimes(std::move(stretches));
}

Result<ThreadPasts> pasts_of(Part& part, const Interrupt& interrupt) {
  ThreadPasts pasts;
  const auto read = part.each_recorded(interrupt, [&](const Event& event) -> Result<void> {
    const bool is_wait = event.layout.name == row(kSyncWait).event;
    if (!is_wait && event.layout.name != row(kTotalCpu).event) return {};
    const WaitFields fields(event.layout);
    const std::uint64_t time = part.time_of(event);
    ThreadPast& past = pasts[Part::thread_of(event)];
    if (!is_wait) {
      if (const TakenSample sample = fields.sample_of(event, time); sample.weight != 0)
        past.samples.push_back(sample);
      else if (const RecordedRest rest = fields.rest_of(event, time); rest.begin < rest.end)
        past.rests.push_back(rest);
      return {};
    }
    const auto is_chosen = part.contains(event, interrupt);
    if (!is_chosen) return tl::unexpected(is_chosen.error());
    past.waits.push_back(fields.wait_of(event, time, *is_chosen));
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  for (auto& [thread, past] : pasts) {
    std::stable_sort(past.waits.begin(), past.waits.end(),
                     [](const auto& a, const auto& b) { return a.end < b.end; });
    std::stable_sort(past.samples.begin(), past.samples.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    std::stable_sort(past.rests.begin(), past.rests.end(),
                     [](const auto& a, const auto& b) { return a.end < b.end; });
  }
  return pasts;
}

MetricList wait_metrics() {
  MetricList metrics;
  metrics.columns.emplace_back(MetricColumn{Flavour::exclusive, kSyncWait, false});
  metrics.columns.emplace_back(Static::name);
  return metrics;
}

Result<void> has_waits(const Analysis& analysis) {
  if (analysis.sums().has(kSyncWaits)) return {};
  return without_events(analysis, format::Tracer::sync);
}

std::string kind_name(std::uint32_t kind) {
  constexpr std::array kNames{"object",    "mutex",   "read lock", "write lock", "spin lock",
                              "condition", "barrier", "thread",    "semaphore",  "futex"};
  return kind < kNames.size() ? kNames[kind] : kNames[0];
}

const std::vector<ObjectNames::Block>& ObjectNames::blocks_of(std::size_t part) {
  const auto [at, is_new] = blocks_.try_emplace(part);
  std::vector<Block>& blocks = at->second;
  if (!is_new) return blocks;
  analysis_.parts()[part]->heap().each([&](std::uint64_t address, const HeapBlock& block) {
    blocks.push_back({address, block});
  });
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.address < b.address; });
  return blocks;
}

std::string ObjectNames::name_of(std::size_t part, const RecordedWait& wait,
                                 const Interrupt& interrupt) {
  const std::string kind = kind_name(wait.kind);
  if (wait.kind == static_cast<std::uint32_t>(format::WaitKind::join)) return "end of threads";
  const std::string variable = data_.name_of(wait.object, analysis_.newest_epoch(part), interrupt);
  if (!variable.empty()) return fmt::format("{} {}", kind, variable);
  const std::vector<Block>& blocks = blocks_of(part);
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), wait.object,
                       [](std::uint64_t at, const Block& each) { return at < each.address; });
  if (after == blocks.begin() || wait.object - (after - 1)->address >= (after - 1)->block.size)
    return fmt::format("{} at {:#x}", kind, wait.object);
  const Block& found = *(after - 1);
  const auto place = stacks_.own_place(stacks_.path_of(part, found.block.stack));
  return fmt::format("{} in a block of {} bytes{}", kind, found.block.size,
                     place ? fmt::format(", allocated in {}", stacks_.name_of(*place)) : "");
}

}  // namespace gnomon::reader
