// What is wrong with the counts of counters, in sentences. Any thread.
#include "reader/report/notes/counter_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcollector/format/control.h"
#include "reader/base/one_line.h"

namespace gnomon::reader {
namespace {

// A counter that shared the processor's counts while it had one of them, and nothing is scaled up.
std::string sharing_note(const std::string& name, const CountFigures& figures) {
  constexpr std::uint64_t kNotable = 50;  // one part in so many
  const std::uint64_t enabled = figures.enabled.value, running = figures.running.value;
  if (running >= enabled - enabled / kNotable) return "";
  return fmt::format(
      "{} had a counter of the processor for {:.0f}% of the time that the threads ran, as it had "
      "to "
      "share: its figures lack the rest; record fewer counters at once.",
      name, 100.0 * static_cast<double>(running) / static_cast<double>(enabled));
}

}  // namespace

void add_count_losses(const std::string& name, const CountFigures& figures, std::uint64_t interval,
                      std::vector<std::string>& notes) {
  if (figures.lost != 0)
    notes.push_back(fmt::format(
        "{} samples of {} were lost because gnomon-sampler did not come to read them in time; what "
        "they stand for is counted, without a call stack; a longer interval than {} costs less.",
        figures.lost, name, interval));
  if (figures.throttled != 0)
    notes.push_back(fmt::format(
        "the kernel took no samples of {} for a moment, {} times, because they came too often; "
        "what was counted then has no call stack; a longer interval than {} prevents that.",
        name, figures.throttled, interval));
}

// The kernel's clock knows a hit whose sample it has.
void add_watch_notes(const Part& part, std::vector<std::string>& notes) {
  const Experiment& experiment = part.experiment();
  const bool is_from_outside = format::is_from_outside(experiment.control.clock);
  for (const WatchLine& watch : watches_of(experiment.directory, experiment.header.session)) {
    const std::uint64_t hits = watch.figures.counted, cost = watch.hit_cost.value;
    if (cost == 0) continue;
    const std::string all =
        hits == 0 ? "" : fmt::format(", {:.3f} s in all", seconds(Nanoseconds{hits * cost}));
    notes.push_back(fmt::format(
        "{} was watched: each {} held its thread for {:.1f} us{}; that time is in {}.",
        one_line(watch.name), watch.is_call ? "call" : "access", static_cast<double>(cost) / 1000,
        all, is_from_outside && watch.interval == 1 ? "<Watch>" : "the functions that made them"));
  }
}

namespace {

bool is_known(std::string_view counter) {
  const std::span<const Metric> known = metric_table();
  return std::any_of(known.begin(), known.end(),
                     [&](const Metric& each) { return each.key == counter; });
}

}  // namespace

void add_counter_notes(const Part& part, const std::vector<MetricId>& metrics,
                       std::vector<std::string>& notes) {
  const std::string& refused = part.instants().log.uncounted();
  if (!refused.empty()) notes.push_back(fmt::format("events were not counted: {}.", refused));
  for (const CounterLine& counter : part.experiment().counters) {
    const bool is_shown = std::any_of(metrics.begin(), metrics.end(),
                                      [&](MetricId each) { return row(each).key == counter.name; });
    if (!is_known(counter.name))
      notes.push_back(
          fmt::format("{} is not shown, as there are counters of more names than can be told "
                      "apart ({} metrics): name fewer experiments at once.",
                      one_line(counter.name), kMostMetrics));
    if (!is_shown) continue;
    if (counter.is_user_only)
      notes.push_back(
          fmt::format("{} counts what happens in the program's code alone, not in the kernel: "
                      "kernel.perf_event_paranoid 1 or CAP_PERFMON allows both.",
                      counter.name));
    if (std::string note = sharing_note(counter.name, counter.figures); !note.empty())
      notes.push_back(std::move(note));
    add_count_losses(counter.name, counter.figures, counter.interval, notes);
  }
}

}  // namespace gnomon::reader
