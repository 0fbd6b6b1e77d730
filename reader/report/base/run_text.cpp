// A recording, its program and its clock in words. Any thread.
#include "reader/report/base/run_text.h"

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

std::string clock_and_interval(const Experiment& experiment) {
  const Header& header = experiment.header;
  const double interval = seconds(header.interval) * 1e3;
  const auto clock = static_cast<format::Clock>(experiment.control.clock);
  if (!format::is_from_outside(experiment.control.clock))
    return fmt::format("{} ({}), every {:.3f} ms of a thread's CPU time", header.clock_source,
                       header.clock_timer, interval);
  const bool shows_places = clock == format::Clock::user && header.outside.empty() &&
                            format::source_in(header.settings) != format::ClockSource::kernel;
  return fmt::format("kernel ({}), every {:.3f} ms of a thread's {} time{}",
                     format::kTaskClockEvent, interval,
                     clock == format::Clock::user ? "user CPU" : "CPU",
                     shows_places ? ", and SIGPROF every 10 ms, which shows system calls" : "");
}

std::string_view why_chosen(const Experiment& experiment, const Log& log) {
  switch (static_cast<format::Clock>(experiment.control.clock)) {
    case format::Clock::kernel:
      return "this user may see time in the kernel, so that no signal is needed";
    case format::Clock::user:
      return "this user may not see time in the kernel; with kernel.perf_event_paranoid 1 or "
             "CAP_PERFMON no signal is needed";
    case format::Clock::none:
    case format::Clock::signal:
      break;
  }
  return log.why_signals();
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

std::string clock_text(const Experiment& experiment, const Log& log) {
  const Header& header = experiment.header;
  if (header.interval.value == 0) return "off";
  const bool is_auto = header.settings[format::Setting::source] == 0 && header.outside.empty();
  std::string text = clock_and_interval(experiment);
  if (const std::string_view why = is_auto ? why_chosen(experiment, log) : ""; !why.empty())
    text += fmt::format("; chosen by auto: {}", why);
  return text;
}

}  // namespace gnomon::reader
