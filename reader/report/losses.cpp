// What an experiment lost, in sentences to stand above a table. Any thread.
#include "reader/report/losses.h"

#include <fmt/format.h>

namespace gnomon::reader {
namespace {

double share(Nanoseconds part, Nanoseconds whole) {
  return whole.value == 0 ? 0 : 100.0 * seconds(part) / seconds(whole);
}

std::string truncation_note(const StackSum& total, const StackSum& truncated) {
  const double cut = share(truncated.time, total.time);
  const char* consequence =
      cut > 99.0  ? "inclusive time is meaningless here, exclusive time is right"
      : cut > 1.0 ? "inclusive time of the functions above the cut is too small by that share"
                  : "inclusive time is hardly affected";
  return fmt::format(
      "{} of {} call stacks ({:.1f} % of the time) were cut at code without unwind information: "
      "{}.",
      truncated.samples, total.samples, cut, consequence);
}

}  // namespace

std::vector<std::string> loss_notes(const Experiment& experiment, const StackSum& total,
                                    const StackSum& truncated) {
  std::vector<std::string> notes;
  const format::ControlPage& control = experiment.control;
  if (experiment.state() == format::State::failed)
    notes.push_back(fmt::format("recording stopped early: {}.", failure_text(control)));
  for (const auto& [drop, what] : format::kDrops)
    if (const auto count = control.dropped[static_cast<std::size_t>(drop)]; count != 0)
      notes.push_back(fmt::format("{}: {}.", what, count));
  if (truncated.samples != 0) notes.push_back(truncation_note(total, truncated));
  // Time after a thread's last tick belongs to no sample.
  const Nanoseconds cpu{control.cpu_time};
  if (cpu.value != 0 && total.samples == 0)
    notes.push_back(fmt::format(
        "there is no sample: the process used {:.3f} s of CPU time, and a thread is sampled every "
        "{:.3f} ms of it.",
        seconds(cpu), seconds(experiment.header.interval) * 1e3));
  else if (cpu.value != 0 && std::abs(seconds(cpu) - seconds(total.time)) > 0.02 * seconds(cpu))
    notes.push_back(fmt::format("samples cover {:.3f} s of the process's {:.3f} s CPU time.",
                                seconds(total.time), seconds(cpu)));
  return notes;
}

}  // namespace gnomon::reader
