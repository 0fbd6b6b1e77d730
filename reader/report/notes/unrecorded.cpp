// What of a program was not recorded: threads that the clock has not sampled, child processes, what
// came after the end of gnomon-sampler. Any thread.
#include "reader/report/notes/unrecorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "reader/base/clock.h"

namespace gnomon::reader {
namespace {

using format::Figure;
using format::figure;

std::string names_text(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count != 0) text += ", ";
    if (count++ == kMost) return text + "...";
    text += name;
  }
  return text;
}

struct Used {
  std::string name;
  std::uint64_t cpu = 0;  // ns, since the recording began
};

// By thread, as far as gnomon-sampler has looked.
std::map<std::uint32_t, Used> used_by_threads(const Part& part) {
  std::map<std::uint32_t, std::uint64_t> before;
  for (const ThreadSample& thread : part.samples().baseline())
    before[thread.thread] = figure(thread.figures, Figure::cpu);
  std::map<std::uint32_t, Used> used;
  for (const Sample& sample : part.span_samples())
    for (const ThreadSample& thread : sample.threads) {
      const std::uint64_t cpu = figure(thread.figures, Figure::cpu), begin = before[thread.thread];
      if (cpu != format::kUnknownFigure && cpu >= begin)
        used[thread.thread] = {thread.name, cpu - begin};
    }
  return used;
}

// Returns true if the recording counts threads that it could not sample.
bool is_explained(const format::ControlPage& control) {
  return std::any_of(format::kDrops.begin(), format::kDrops.end(), [&](const auto& row) {
    return format::is_of_signals(row.drop) &&
           control.dropped[static_cast<std::size_t>(row.drop)] != 0;
  });
}

}  // namespace

// The clock samples a thread first after an interval of its CPU time, and late on a crowded CPU, so
// a thread that used little CPU time lacks no sample. Empty if no thread lacks one.
std::string unsampled_threads_note(const Part& part) {
  constexpr std::uint64_t kIntervals = 5, kLate = 50'000'000;  // ns
  const Experiment& experiment = part.experiment();
  const std::uint64_t interval = experiment.header.interval.value;
  if (!part.span().is_whole() || interval == 0 || experiment.state() == format::State::failed ||
      !part.instants().log.pauses().empty() || part.has_filter())
    return "";
  std::set<std::string> names;
  std::uint64_t count = 0, cpu = 0;
  for (const auto& [thread, used] : used_by_threads(part)) {
    if (used.cpu <= kIntervals * interval + kLate || part.has_sampled(thread)) continue;
    ++count;
    cpu += used.cpu;
    names.insert(used.name);
  }
  if (count == 0) return "";
  return fmt::format(
      "threads that have no clock sample: {} ({}), which used {:.3f} s of CPU time: {}.", count,
      names_text(names), seconds(Nanoseconds{cpu}),
      is_explained(experiment.control)
          ? "see why above"
          : "the collector does not see a thread that is made by clone, by a pthread_create that a "
            "library looks up itself, or in a namespace of dlmopen");
}

std::string clock_gap_note(const Part& part) {
  constexpr std::uint64_t kBeat = 3'000'000'000;  // ns; it shows itself each second
  const Experiment& experiment = part.experiment();
  const format::ControlPage& control = experiment.control;
  if (experiment.is_being_finished)
    return "gnomon-sampler is still writing the last clock samples; repeat in a moment.";
  std::uint64_t last = control.end_time;
  if (last == 0 && is_recording(experiment) && life_of(experiment.header) == Life::running)
    last = monotonic_now();
  const bool is_over = control.end_time != 0 || life_of(experiment.header) == Life::over;
  const bool was_killed = is_over && !experiment.closed && control.sampler != 0;
  if (!format::is_from_outside(control.clock) ||
      (!was_killed && last <= control.sampler_time + kBeat))
    return "";
  const std::uint64_t seen = std::max(control.sampler_time, part.last_tick());
  const std::uint64_t since = seen - std::min(control.start_time, seen);
  return fmt::format(
      "gnomon-sampler, which was the clock, was gone from {:.3f} s on: there are no clock samples "
      "after that.",
      seconds(Nanoseconds{since}));
}

std::string unseen_kernel_note(const Part& part) {
  constexpr double kWorthANote = 0.01;
  const bool is_unseen =
      part.experiment().control.clock == static_cast<std::uint32_t>(format::Clock::user);
  const double system = seconds(Nanoseconds{part.sums().total(kSystemCpu)});
  const double all = seconds(Nanoseconds{part.sums().total(kTotalCpu)});
  if (!is_unseen || system <= kWorthANote * all) return "";
  const bool has_places =
      format::source_in(part.experiment().header.settings) != format::ClockSource::kernel &&
      part.experiment().header.outside.empty();
  return fmt::format(
      "{:.3f} s are in the kernel, where this user's clock does not tick: they are what the "
      "threads "
      "used beyond their ticks. {} kernel.perf_event_paranoid 1 or CAP_PERFMON shows the places.",
      system,
      has_places ? "Signals and page faults tell where they were spent, and <System> is the rest;"
                 : "Page faults tell where some were spent, and <System> is the rest;");
}

std::string children_note(const Part& part) {
  if (!part.span().is_whole()) return "";
  const Samples& samples = part.samples();
  const auto& seen = samples.children();
  const std::uint64_t count =
      std::max<std::uint64_t>(part.experiment().control.children, seen.size());
  if (count == 0) return "";
  std::set<std::string> names;
  for (const auto& [process, name] : seen) names.insert(name);
  std::uint64_t cpu = format::kUnknownFigure;
  if (samples.all().size() > 1)
    cpu = figure(between(samples.all().front().figures, samples.all().back().figures),
                 Figure::children);
  return fmt::format("child processes that the program started are not recorded: {}{}{}.", count,
                     names.empty() ? "" : fmt::format(" ({})", names_text(names)),
                     cpu == format::kUnknownFigure
                         ? ""
                         : fmt::format("; those that have ended used {:.3f} s of CPU time",
                                       seconds(Nanoseconds{cpu})));
}

std::string outside_note(const Header& header) {
  if (header.outside.empty()) return "";
  return fmt::format(
      "recorded from outside, without traces of memory, locks, input and output: {}.",
      header.outside);
}

tl::unexpected<Fault> nothing_traced(const Experiment& experiment, const std::string& what) {
  if (is_recording(experiment)) return fault(what + " yet", "let it go on, and ask again");
  return fault(what + " while it was recorded",
               "what could not be traced stands above `functions`");
}

tl::unexpected<Fault> not_traced(const Header& header, const std::string& what,
                                 const std::string& next) {
  if (header.outside.empty()) return fault(what, next);
  return fault(what, fmt::format("the program was recorded from outside: {}", header.outside));
}

std::string before_begin_note(const Part& part) {
  constexpr std::uint64_t kLeast = 50'000'000;  // ns
  constexpr std::uint64_t kShare = 100;         // a part in so many
  const Experiment& experiment = part.experiment();
  const std::vector<Sample>& samples = part.samples().all();
  if (!part.span().is_whole() || part.has_filter() || part.instants().log.is_attached() ||
      !experiment.header.outside.empty() || samples.empty())
    return "";
  const std::uint64_t before = figure(samples.front().figures, Figure::cpu);
  if (before == format::kUnknownFigure || before < kLeast ||
      before < experiment.control.cpu_time / kShare)
    return "";
  return fmt::format(
      "the program used {:.3f} s of CPU time before its recording began, in the loader and in the "
      "constructors of its libraries: no table has that.",
      seconds(Nanoseconds{before}));
}

}  // namespace gnomon::reader
