// What an experiment lost, in sentences to stand above a table. Any thread.
#include "reader/report/notes/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "reader/report/base/setting_text.h"
#include "reader/report/notes/counter_notes.h"
#include "reader/report/notes/missing_events.h"
#include "reader/report/notes/unrecorded.h"
#include "reader/report/notes/untraced_notes.h"
#include "reader/report/notes/waiting_notes.h"

namespace gnomon::reader {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Where walks of call stacks end before the outermost frame, by WalkEnd; empty for ends that are no
// cut.
constexpr std::array<std::string_view, format::kWalkEnds> kEnds{
    "",
    "at a place that the recording does not tell",
    "at the limit of {} frames, which `collector depth` raises",
    "",
    "at code of no load object, such as code made at run time",
    "at code without unwind information",
    "at unwind information that does not fit the stack",
    "at the end of the part of the stack that the kernel copied, which `profile source signal` "
    "does "
    "without",
};

constexpr auto kForeign = static_cast<std::size_t>(format::WalkEnd::foreign_stack);

// Stacks of coroutines are complete, so they are not counted as cut. Empty if there are none.
std::string foreign_stack_note(const Profile& profile) {
  const MetricValues& time = profile.values(kTotalCpu);
  const MetricValues& ticks = profile.values(kTicks);
  if (ticks.by_end[kForeign] == 0) return "";
  return fmt::format(
      "{} of {} call stacks ({:.1f} % of the time) lie on a stack that is none of the thread's "
      "own, "
      "such as a coroutine's: they begin where that one does.",
      ticks.by_end[kForeign], ticks.total, percent(time.by_end[kForeign], time.total));
}

// Empty if none was cut.
std::string truncation_note(const Profile& profile, const Experiment& experiment) {
  const MetricValues& time = profile.values(kTotalCpu);
  const MetricValues& ticks = profile.values(kTicks);
  const std::uint64_t count = ticks.truncated() - ticks.by_end[kForeign];
  if (count == 0) return "";
  const double cut = percent(time.truncated() - time.by_end[kForeign], time.total);
  const char* consequence =
      cut > 99.0  ? "inclusive time is meaningless here, exclusive time is right"
      : cut > 1.0 ? "inclusive time of the functions above the cut is too small by that share"
                  : "inclusive time is hardly affected";
  std::string where;
  for (std::size_t end = 1; end < kEnds.size(); ++end) {
    if (ticks.by_end[end] == 0 || end == kForeign) continue;
    if (!where.empty()) where += ", ";
    if (ticks.by_end[end] != count) where += fmt::format("{} ", ticks.by_end[end]);
    where +=
        fmt::format(fmt::runtime(kEnds[end]), experiment.header.settings[format::Setting::depth]);
  }
  return fmt::format("{} of {} call stacks ({:.1f} % of the time) were cut {}: {}.", count,
                     ticks.total, cut, where, consequence);
}

// Empty if there are none.
std::string guess_note(const Profile& profile) {
  const MetricValues& time = profile.values(kTotalCpu);
  const MetricValues& ticks = profile.values(kTicks);
  if (ticks.guessed == 0) return "";
  return fmt::format(
      "{} of {} call stacks ({:.1f} % of the time) have callers that are guessed: behind code "
      "without "
      "unwind information, or beyond what the kernel copied of the stack.",
      ticks.guessed, ticks.total, percent(time.guessed, time.total));
}

// What the process used, and how much of that its clock samples stand for.
struct Coverage {
  Nanoseconds cpu;  // 0: not known
  Nanoseconds sampled;
  std::uint64_t until = 0;  // the instant up to which both count; 0: to the end
};

// How far the clock's samples in a span may be from its CPU time, in seconds: an interval for each
// thread, as the first sample stands for time before the span as well.
double edges(const Part& part) {
  if (part.span_samples().empty()) return 0;
  const std::uint64_t threads = figure(part.span_samples().back().figures, format::Figure::threads);
  return seconds(part.experiment().header.interval) *
         static_cast<double>(threads == format::kUnknownFigure ? 1 : threads);
}

// A process that ends by a signal, by _exit or exec, or that still runs, has not said what it used:
// samples tell up to the last of them.
Coverage coverage_by_samples(const Part& part) {
  const auto samples = part.span_samples();
  if (samples.size() < 2) return {};
  const std::uint64_t cpu =
      figure(between(samples.front().figures, samples.back().figures), format::Figure::cpu);
  if (cpu == format::kUnknownFigure) return {};
  const std::uint64_t until = samples.back().time;
  return {{cpu}, {part.sampled_until(until)}, until};
}

// In a part of the recording samples tell, if one was taken right at the beginning of the span, and
// one at its end or after the last event.
Coverage coverage_of(const Part& part) {
  constexpr std::uint64_t kNear = 10'000'000;  // ns
  const Span& span = part.span();
  const format::ControlPage& control = part.experiment().control;
  const Nanoseconds sampled{part.sums().total(kTotalCpu)};
  Coverage coverage = coverage_by_samples(part);
  // gnomon-sampler ends at once what it is told to; the process follows, and counts up to then.
  const bool ended_before = format::is_from_outside(control.clock) && coverage.cpu.value != 0 &&
                            part.span_samples().back().event == "end" &&
                            coverage.until + kNear < control.end_time;
  if (span.is_whole() && ended_before) return {coverage.cpu, sampled};
  if (span.is_whole() && control.cpu_time != 0) return {{control.cpu_time}, sampled};
  if (span.is_whole() || coverage.cpu.value == 0) return coverage;
  coverage.sampled = sampled;
  const auto samples = part.span_samples();
  const std::uint64_t begin = std::max(span.begin, control.start_time);
  const bool is_covered = samples.front().time <= begin + kNear &&
                          (span.end == Span::kOpen ? coverage.until >= part.last_event()
                                                   : span.end <= coverage.until + kNear);
  return is_covered ? Coverage{coverage.cpu, sampled} : Coverage{};
}

// What was recorded of the span without events because of pauses.
struct Paused {
  std::size_t times = 0;
  std::uint64_t length = 0;  // ns
};
Paused paused_in(const Part& part) {
  const Span& span = part.span();
  const format::ControlPage& control = part.experiment().control;
  std::uint64_t last = control.end_time;
  if (last == 0 && !part.samples().all().empty())
    last = part.samples().all().back().time;  // as far as anything is known
  last = std::max(last, part.last_event());
  Paused paused;
  for (const Pause& pause : part.instants().log.pauses()) {
    const std::uint64_t begin = std::max({pause.begin, span.begin, control.start_time});
    const std::uint64_t end = std::min({pause.end, span.end, last});
    if (begin >= end) continue;
    ++paused.times;
    paused.length += end - begin;
  }
  return paused;
}

// Empty if there were none.
std::string pause_note(const Part& part) {
  const Experiment& experiment = part.experiment();
  const Paused paused = paused_in(part);
  if (is_size_limit_reached(experiment))
    return fmt::format("events end at the size limit of {}: the last {:.3f} s have samples alone.",
                       setting_text(format::Setting::size_limit, experiment.header.settings),
                       seconds(Nanoseconds{paused.length}));
  if (paused.times == 0) return "";
  return fmt::format("no events were recorded for {:.3f} s in which the recording was paused{}.",
                     seconds(Nanoseconds{paused.length}),
                     paused.times == 1 ? "" : fmt::format(", {} times", paused.times));
}

// A sample stands for all of its thread's CPU time since the one before, wherever that was spent.
// Empty if few came late.
std::string late_note(const Sums& sums) {
  constexpr double kWorthANote = 5;  // per cent
  const double share = percent(sums.total_beyond(kTotalCpu), sums.total(kTotalCpu));
  if (share <= kWorthANote) return "";
  return fmt::format(
      "{} clock sample{} ({:.1f} % of the time) came late, after long system calls, blocked "
      "signals "
      "or on a crowded CPU: other functions may have run in the time that each stands for.",
      sums.beyond(kTotalCpu), sums.beyond(kTotalCpu) == 1 ? "" : "s", share);
}

// Time after a thread's last tick belongs to no sample.
std::string coverage_note(const Part& part) {
  const Experiment& experiment = part.experiment();
  const auto [cpu, sampled, until] = coverage_of(part);
  if (paused_in(part).times != 0 || part.has_filter()) return "";
  if (cpu.value == 0)
    return part.span().is_whole() && life_of(experiment.header) == Life::over &&
                   experiment.header.interval.value != 0
               ? "the process ended without saying how much CPU time it used: whether clock "
                 "samples cover it is not known."
               : "";
  if (experiment.header.interval.value == 0)
    return "there is no clock sample, as the clock was off.";
  const Recording& recording = part.recording();
  if (!part.sums().has(kTicks) && recording.missing() + recording.damaged() != 0)
    return "there is no clock sample: those that were taken are missing.";
  if (!part.sums().has(kTicks))
    return fmt::format(
        "there is no clock sample: the process used {:.3f} s of CPU time, and a thread is sampled "
        "every {:.3f} ms of it.",
        seconds(cpu), seconds(experiment.header.interval) * 1e3);
  const bool is_exact = part.span().is_whole() && until == 0;
  const double difference = std::abs(seconds(cpu) - seconds(sampled));
  if (difference <= 0.02 * seconds(cpu) || (!is_exact && difference <= edges(part))) return "";
  const std::string where =
      until == 0 ? ""
                 : fmt::format(" in the first {:.3f} s; what it used later is not known",
                               seconds(Nanoseconds{until - experiment.control.start_time}));
  if (sampled.value > cpu.value)
    return fmt::format(
        "clock samples add up to {:.3f} s, but the process used {:.3f} s of CPU time{}: the times "
        "shown are too large by the difference.",
        seconds(sampled), seconds(cpu), where);
  return fmt::format("clock samples cover {:.3f} s of the process's {:.3f} s CPU time{}.",
                     seconds(sampled), seconds(cpu), where);
}

// Empty if little time is in functions that lack a name because their file lacks its symbols.
std::string unnamed_note(const Analysis& analysis, const Profile& profile) {
  constexpr double kLeast = 1;  // percent
  const std::set<std::string>& stripped = analysis.address_space().stripped();
  std::map<std::string, std::uint64_t> times;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < profile.functions(); ++i) {
    const Function& function = profile.function(FunctionId{i});
    if (!function.is_unnamed || !stripped.contains(function.object)) continue;
    const std::uint64_t time = profile.value(Flavour::exclusive, kTotalCpu, FunctionId{i});
    if (time != 0) times[function.object] += time;
    sum += time;
  }
  const double share = percent(sum, profile.values(kTotalCpu).total);
  if (share < kLeast) return "";
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string others =
      times.size() == 1 ? "" : fmt::format(" (and {} more)", times.size() - 1);
  return fmt::format(
      "{:.1f} % of the time is in functions without names (<static>@): {}{} has no symbol table, "
      "and no debug file of it was found; install that, or build it without stripping.",
      share, most->first, others);
}

}  // namespace

std::string span_note(const Part& part) {
  if (part.span().is_whole()) return "";
  return fmt::format("only a part of the recording: {}.",
                     span_text(part.span(), part.experiment(), part.instants()));
}

std::string lost_samples_note(const Part& part) {
  const Samples& samples = part.samples();
  if (!samples.fault().empty()) return fmt::format("samples cannot be read: {}.", samples.fault());
  if (samples.lost() == 0) return "";
  return fmt::format("samples that are damaged or missing: {}.", samples.lost());
}

namespace {

// As the user said it: `--thread worker` and `--function main` become expressions.
std::string said(std::string filter) {
  constexpr std::array<std::array<std::string_view, 3>, 2> kOptions{
      {{"THRID SOME IN TNAME(\"", "\")", "thread "},
       {"FNAME(\"", "\") SOME IN STACK", "function "}}};
  for (const auto& [begin, end, word] : kOptions)
    for (std::size_t at = 0; (at = filter.find(begin, at)) != std::string::npos;
         at += word.size()) {
      const std::size_t behind = filter.find(end, at + begin.size());
      if (behind == std::string::npos) break;
      filter.erase(behind, end.size()).replace(at, begin.size(), word);
    }
  return filter;
}

}  // namespace

std::string filter_note(const Analysis& analysis) {
  if (analysis.filter().empty()) return "";
  std::uint64_t fitting = 0, all = 0;
  for (const auto& part : analysis.parts()) {
    fitting += part->events_that_fit();
    all += part->events_of_span();
  }
  return fmt::format("only events that fit the filter {}: {} of {}.",
                     one_line(said(analysis.filter())), fitting, all);
}

namespace {

// What part of the process's time the events stand for.
void add_time_notes(const Part& part, std::vector<std::string>& notes) {
  for (const std::string& note :
       {before_begin_note(part), pause_note(part), late_note(part.sums()), clock_gap_note(part),
        coverage_note(part), unseen_kernel_note(part), unsampled_threads_note(part),
        children_note(part)})
    if (!note.empty()) notes.push_back(note);
}

// The notes that `add` has on each part; of several parts they say which.
template <typename Add>
void add_of_parts(const Analysis& analysis, std::vector<std::string>& notes, Add add) {
  for (const auto& part : analysis.parts()) {
    const std::size_t first = notes.size();
    add(*part, notes);
    if (analysis.parts().size() == 1) continue;
    for (std::size_t i = first; i < notes.size(); ++i)
      notes[i].insert(0, part->experiment().directory + ": ");
  }
}

}  // namespace

std::vector<std::string> loss_notes(const Analysis& analysis, const Profile* profile,
                                    bool with_time) {
  std::vector<std::string> notes;
  add_of_parts(analysis, notes, [](const Part& part, std::vector<std::string>& all) {
    if (std::string note = span_note(part); !note.empty()) all.push_back(std::move(note));
  });
  if (std::string note = filter_note(analysis); !note.empty()) notes.push_back(std::move(note));
  add_of_parts(analysis, notes, add_missing_events);
  if (profile)
    for (const std::string& note : {truncation_note(*profile, analysis.experiment()),
                                    foreign_stack_note(*profile), guess_note(*profile)})
      if (!note.empty()) notes.push_back(note);
  if (with_time) add_of_parts(analysis, notes, add_time_notes);
  return notes;
}

namespace {

// Empty if allocations were recorded to the end.
std::string frees_only_note(const Part& part) {
  const format::ControlPage& control = part.experiment().control;
  if (control.frees_only == 0) return "";
  return fmt::format(
      "allocations were recorded up to {:.3f} s; what gives them back, on to the end.",
      seconds(Nanoseconds{control.frees_only - std::min(control.start_time, control.frees_only)}));
}

// Empty unless the metrics rest on some of the allocations only.
std::string heap_estimate_note(const Analysis& analysis, const std::vector<MetricId>& metrics) {
  const bool is_shown = std::any_of(metrics.begin(), metrics.end(), [](MetricId each) {
    return row(each).event == row(kAllocations).event || row(each).event == row(kLeaks).event;
  });
  const auto& settings = analysis.experiment().header.settings;
  const std::uint64_t mean = format::heap_mean(settings[format::Setting::heaptrace]);
  if (!is_shown || mean == 0) return "";
  return fmt::format(
      "one allocation in {} bytes was recorded, on average: numbers of allocations and of bytes "
      "are estimates.",
      mean);
}

}  // namespace

std::vector<std::string> all_notes(const Analysis& analysis, const Profile& profile,
                                   const Shown& shown) {
  const std::vector<MetricId> metrics = shown.metrics.metrics();
  const bool with_time =
      metrics.empty() || std::any_of(metrics.begin(), metrics.end(), [](MetricId each) {
        return row(each).event == row(kTotalCpu).event;
      });
  std::vector<std::string> notes = loss_notes(analysis, &profile, with_time);
  if (std::string note = heap_estimate_note(analysis, metrics); !note.empty())
    notes.push_back(std::move(note));
  add_of_parts(analysis, notes, [](const Part& part, std::vector<std::string>& all) {
    if (std::string note = frees_only_note(part); !note.empty()) all.push_back(std::move(note));
  });
  add_of_parts(analysis, notes, [&](const Part& part, std::vector<std::string>& all) {
    add_counter_notes(part, metrics, all);
    if (with_time) add_watch_notes(part, all);
    add_untraced_notes(part, metrics, all);
  });
  if (std::any_of(metrics.begin(), metrics.end(), is_of_waiting))
    if (std::string note = waiting_note(analysis, profile); !note.empty())
      notes.push_back(std::move(note));
  if (std::string note = with_time ? unnamed_note(analysis, profile) : ""; !note.empty())
    notes.push_back(std::move(note));
  for (const auto& more : {analysis.symbol_notes(), shown.notes})
    notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

}  // namespace gnomon::reader
