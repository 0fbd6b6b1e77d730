// What an experiment lost, in sentences to stand above a table. Any thread.
#include "reader/report/losses.h"

#include <fmt/format.h>

#include <cmath>

namespace gnomon::reader {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string truncation_note(const Profile& profile) {
  const MetricValues& time = profile.values(kTotalCpu);
  const MetricValues& ticks = profile.values(kTicks);
  const double cut = percent(time.truncated, time.total);
  const char* consequence =
      cut > 99.0  ? "inclusive time is meaningless here, exclusive time is right"
      : cut > 1.0 ? "inclusive time of the functions above the cut is too small by that share"
                  : "inclusive time is hardly affected";
  return fmt::format(
      "{} of {} call stacks ({:.1f} % of the time) were cut at code without unwind information: "
      "{}.",
      ticks.truncated, ticks.total, cut, consequence);
}

// Time after a thread's last tick belongs to no sample.
std::string coverage_note(const Experiment& experiment, const Sums& sums) {
  const Nanoseconds cpu{experiment.control.cpu_time}, sampled{sums.total(kTotalCpu)};
  if (cpu.value == 0) return "";
  if (!sums.has(kTicks))
    return fmt::format(
        "there is no sample: the process used {:.3f} s of CPU time, and a thread is sampled every "
        "{:.3f} ms of it.",
        seconds(cpu), seconds(experiment.header.interval) * 1e3);
  if (std::abs(seconds(cpu) - seconds(sampled)) <= 0.02 * seconds(cpu)) return "";
  return fmt::format("samples cover {:.3f} s of the process's {:.3f} s CPU time.", seconds(sampled),
                     seconds(cpu));
}

}  // namespace

std::vector<std::string> loss_notes(const Analysis& analysis, const Profile* profile) {
  std::vector<std::string> notes;
  const Experiment& experiment = analysis.experiment();
  const format::ControlPage& control = experiment.control;
  if (experiment.state() == format::State::failed)
    notes.push_back(fmt::format("recording stopped early: {}.", failure_text(control)));
  for (const auto& [drop, what] : format::kDrops)
    if (const auto count = control.dropped[static_cast<std::size_t>(drop)]; count != 0)
      notes.push_back(fmt::format("{}: {}.", what, count));
  if (const auto count = analysis.unfinished(); count != 0)
    notes.push_back(fmt::format("events left unfinished when their thread ended: {}.", count));
  if (profile && profile->values(kTicks).truncated != 0) notes.push_back(truncation_note(*profile));
  if (const std::string note = coverage_note(experiment, analysis.sums()); !note.empty())
    notes.push_back(note);
  return notes;
}

std::vector<std::string> all_notes(const Analysis& analysis, const Profile& profile,
                                   const Shown& shown) {
  std::vector<std::string> notes = loss_notes(analysis, &profile);
  for (const auto& more : {analysis.symbol_notes(), shown.notes})
    notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

}  // namespace gnomon::reader
