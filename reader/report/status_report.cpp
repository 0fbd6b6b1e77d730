// What is recorded, how, and what was lost. Any thread.
#include <fmt/format.h>

#include "reader/experiment/experiment.h"
#include "reader/report/losses.h"
#include "reader/report/report.h"

namespace gnomon::reader {
namespace {

constexpr const char* kRunsOn = "ended; the program runs on";

bool was_told_to_end(const Experiment& experiment) {
  return experiment.control.asked == static_cast<std::uint32_t>(format::Ask::end);
}

// Of a recording that was not closed.
std::string recording_text(const Experiment& experiment) {
  const std::string without =
      "the program ended without returning from main or calling exit (a signal, _exit)";
  if (experiment.control.replacing != 0) return "ended; the program executed another (exec)";
  switch (life_of(experiment.header)) {
    case Life::running:
      return was_told_to_end(experiment) ? kRunsOn : "recording";
    case Life::over:
      return "ended; " + without;
    case Life::unknown:
      break;
  }
  return "recording, or " + without;
}

std::string state_text(const Experiment& experiment) {
  switch (experiment.state()) {
    case format::State::none:
    case format::State::armed:
      return "not begun";
    case format::State::recording:
      return recording_text(experiment);
    case format::State::ended:
      return was_told_to_end(experiment) && life_of(experiment.header) == Life::running ? kRunsOn
                                                                                        : "ended";
    case format::State::failed:
      return "stopped early";
  }
  return "unknown";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Table status_report(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  const Header& header = experiment.header;
  Table table;
  table.notes = loss_notes(analysis, nullptr);
  table.columns = {{"item", {}}, {"value", {}}};
  const auto add = [&](const std::string& item, const std::string& value) {
    table.rows.push_back({item, value});
  };
  add("Experiment", experiment.directory);
  add("State", state_text(experiment));
  add("Program", joined(header.arguments));
  add("Process", std::to_string(header.pid));
  add("Clock", fmt::format("{} ({}), every {:.3f} ms of a thread's CPU time", header.clock_source,
                           header.clock_timer, seconds(header.interval) * 1e3));
  add("Call stacks", "walked by " + header.stack_walk);
  add("Threads", std::to_string(experiment.control.threads));
  const Nanoseconds time{analysis.sums().total(kTotalCpu)};
  add("Samples",
      fmt::format("{}, {:.3f} s of CPU time", analysis.sums().total(kTicks), seconds(time)));
  return table;
}

}  // namespace gnomon::reader
