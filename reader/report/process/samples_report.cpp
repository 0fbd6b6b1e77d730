// The samples of an experiment, as a list and in detail. Any thread.
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "reader/report/asked/report.h"
#include "reader/report/process/figures.h"

namespace gnomon::reader {
namespace {

using format::Figure;
using format::figure;

// Calls use(number from 1, sample, what changed since the one before) for each sample of the span.
// What changed before the first sample of the recording is not known.
template <typename Use>
void each_sample(const Analysis& analysis, Use use) {
  const std::vector<Sample>& all = analysis.first().samples().all();
  for (const Sample& sample : analysis.first().span_samples()) {
    const auto number = static_cast<std::size_t>(&sample - all.data()) + 1;
    use(number, sample,
        between(number == 1 ? format::unknown_figures() : all[number - 2].figures, sample.figures));
  }
}

// CPU times of threads, as they were in the last sample.
class ThreadTimes {
 public:
  // Returns what the thread has used since it was last in a sample; a new one, in its life.
  std::uint64_t advance(const ThreadSample& thread) {
    const std::uint64_t now = figure(thread.figures, Figure::cpu);
    std::uint64_t& last = last_[thread.thread];
    const std::uint64_t before = std::exchange(last, now);
    return now < before ? now : now - before;  // less: the number is another thread's now
  }

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> last_;
};

}  // namespace

Table samples_report(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  Table table;
  table.title = "Samples";
  table.notes = sample_notes(analysis);
  table.columns = {{"sample", {"", "Sample"}, true, Type::count},
                   {"time", {"Time", "sec."}, true, Type::time},
                   {"cpu", {"CPU since", "sec."}, true, Type::time},
                   {"threads", {"", "Threads"}, true, Type::count},
                   {"resident", {"Resident", "bytes"}, true, Type::bytes},
                   {"event", {"", "Event"}},
                   {"label", {"", "Label"}}};
  each_sample(analysis,
              [&](std::uint64_t number, const Sample& sample, const format::Figures& since) {
                table.rows.push_back(
                    {number, since_start(experiment, sample.time),
                     figure_cell(figure(since, Figure::cpu), format::Unit::nanoseconds),
                     figure_cell(figure(sample.figures, Figure::threads), format::Unit::none),
                     figure_cell(figure(sample.figures, Figure::resident), format::Unit::bytes),
                     sample.event, sample.label});
              });
  return table;
}

Table sample_detail_report(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  Table table;
  table.title = "Samples in detail: what each adds to the one before";
  table.notes = sample_notes(analysis);
  table.columns = {{"sample", {}, false, Type::count},
                   {"item", {}},
                   {"value", {}, true, Type::number},
                   {"unit", {}}};
  ThreadTimes threads;
  for (const ThreadSample& thread : analysis.first().samples().baseline()) threads.advance(thread);
  for (const Sample& sample : analysis.first().samples().all())
    if (sample.time < analysis.first().span().begin)
      for (const ThreadSample& thread : sample.threads) threads.advance(thread);
  each_sample(
      analysis, [&](std::uint64_t number, const Sample& sample, const format::Figures& since) {
        if (!table.rows.empty()) table.groups.push_back(table.rows.size());
        const auto add = [&](std::string item, Cell value, format::Unit unit) {
          if (!std::holds_alternative<Empty>(value))
            table.rows.push_back({number, std::move(item), std::move(value), unit_text(unit)});
        };
        constexpr auto kTime = format::Unit::nanoseconds;
        const std::string event =
            sample.label.empty() ? sample.event : fmt::format("{} {}", sample.event, sample.label);
        add(fmt::format("Sample {} ({}), since the recording began", number, event),
            since_start(experiment, sample.time), kTime);
        for (const format::FigureRow& row : format::kFigures)
          add(std::string(row.title), figure_cell(figure(since, row.figure), row.unit), row.unit);
        for (const ThreadSample& thread : sample.threads)
          add(fmt::format("CPU time of thread {} ({})", thread.thread, thread.name),
              Nanoseconds{threads.advance(thread)}, kTime);
      });
  return table;
}

}  // namespace gnomon::reader
