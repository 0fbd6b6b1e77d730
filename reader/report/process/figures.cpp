// What reports on the process itself share. Any thread.
#include "reader/report/process/figures.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "reader/base/clock.h"
#include "reader/report/base/run_text.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

constexpr std::uint64_t kLongGap = 3'000'000'000;  // ns: gnomon-sampler shows itself each second

// The last moment of the recording that is known of, CLOCK_MONOTONIC.
std::uint64_t last_moment(const Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  if (experiment.control.end_time != 0) return experiment.control.end_time;
  if (life_of(experiment.header) != Life::running || !is_recording(experiment)) return 0;
  return monotonic_now();
}

std::string gap_note(const Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  const std::uint64_t last = last_moment(analysis), seen = experiment.control.sampler_time;
  const std::uint64_t begin = experiment.control.start_time;
  if (seen == 0 && last > begin + kLongGap)
    return "gnomon-sampler did not run: there are no periodic samples, and none of threads.";
  if (seen != 0 && last > seen + kLongGap)
    return fmt::format("gnomon-sampler was gone from {:.3f} s on: there are no samples after that.",
                       seconds(since_start(experiment, seen)));
  return "";
}

}  // namespace

Cell figure_cell(std::uint64_t value, format::Unit unit) {
  Cell cell(value);
  if (value == format::kUnknownFigure)
    cell = Empty{};
  else if (unit == format::Unit::nanoseconds)
    cell = Nanoseconds{value};
  return cell;
}

std::string unit_text(format::Unit unit) {
  if (unit == format::Unit::nanoseconds) return "sec.";
  return unit == format::Unit::bytes ? "bytes" : "";
}

Nanoseconds since_start(const Experiment& experiment, std::uint64_t time) {
  return {time - std::min(experiment.control.start_time, time)};
}

std::vector<std::string> sample_notes(const Analysis& analysis) {
  std::vector<std::string> notes;
  if (const std::string note = span_note(analysis.first()); !note.empty()) notes.push_back(note);
  const Samples& samples = analysis.first().samples();
  std::string lost = lost_samples_note(analysis.first());
  if (!samples.fault().empty())
    notes.push_back(lost);
  else if (samples.all().empty())
    notes.emplace_back("there is no sample: nothing is known of the process's use of the system.");
  else if (analysis.first().span_samples().empty())
    notes.emplace_back("no sample was taken in that part.");
  if (const std::string note = gap_note(analysis); !note.empty()) notes.push_back(note);
  if (samples.fault().empty() && !lost.empty()) notes.push_back(std::move(lost));
  std::uint64_t left_out = 0;
  for (const Sample& sample : analysis.first().span_samples()) left_out += sample.threads_left_out;
  if (left_out != 0)
    notes.push_back(fmt::format("figures of threads left out for want of room: {}.", left_out));
  return notes;
}

std::vector<std::string> process_notes(const Analysis& analysis) {
  std::vector<std::string> notes = loss_notes(analysis, nullptr);
  for (std::string& note : sample_notes(analysis))
    if (std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  return notes;
}

std::string date_of(const Experiment& experiment, std::uint64_t time) {
  const std::uint64_t since = since_start(experiment, time).value;
  const auto at = static_cast<time_t>((experiment.header.start_realtime + since) / 1'000'000'000);
  tm local{};
  localtime_r(&at, &local);
  return fmt::format("{:%Y-%m-%d %H:%M:%S %z}", local);
}

}  // namespace gnomon::reader
