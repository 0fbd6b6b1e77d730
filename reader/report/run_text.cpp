// A recording, its program and its clock in words. Any thread.
#include "reader/report/run_text.h"

#include <fmt/format.h>

#include "libcollector/format/names.h"

namespace gnomon::reader {
namespace {

constexpr const char* kRunsOn = "ended; the program runs on";

// Of a recording that was not closed.
std::string recording_text(const Experiment& experiment, const Log& log) {
  const std::string without =
      "the program ended without returning from main or calling exit (a signal, _exit)";
  if (has_executed(experiment)) return "ended; the program executed another (exec)";
  switch (life_of(experiment.header)) {
    case Life::running:
      if (is_paused(experiment))
        return is_size_limit_reached(experiment)
                   ? "recording samples alone: the size limit was reached"
                   : "paused; `resume` goes on";
      return was_told_to_end(experiment) ? kRunsOn : "recording";
    case Life::over:
      return "ended; " + without;
    case Life::unknown:
      if (log.process_end() != 0) return "ended; " + without;
      break;
  }
  return "recording, or " + without;
}

}  // namespace

std::string recording_state(const Experiment& experiment, const Log& log) {
  switch (experiment.state()) {
    case format::State::none:
    case format::State::armed:
      return "not begun";
    case format::State::recording:
      return recording_text(experiment, log);
    case format::State::ended:
      return was_told_to_end(experiment) && life_of(experiment.header) == Life::running ? kRunsOn
                                                                                        : "ended";
    case format::State::failed:
      return "stopped early";
  }
  return "unknown";
}

std::string command_line(const Header& header) {
  std::string text;
  for (const std::string& word : header.arguments) text += (text.empty() ? "" : " ") + word;
  return one_line(text);
}

std::string clock_text(const Experiment& experiment) {
  const Header& header = experiment.header;
  if (header.interval.value == 0) return "off";
  const double interval = seconds(header.interval) * 1e3;
  if (!format::is_from_outside(experiment.control.clock))
    return fmt::format("{} ({}), every {:.3f} ms of a thread's CPU time", header.clock_source,
                       header.clock_timer, interval);
  const bool is_user = experiment.control.clock == static_cast<std::uint32_t>(format::Clock::user);
  return fmt::format("kernel ({}), every {:.3f} ms of a thread's {} time", format::kTaskClockEvent,
                     interval, is_user ? "user CPU" : "CPU");
}

}  // namespace gnomon::reader
