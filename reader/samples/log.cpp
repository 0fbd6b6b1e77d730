// log.jsonl of an experiment: the stops of the program that a debugger's user saw, and pauses of
// the recording. Any thread, one at a time.
#include "reader/samples/log.h"

#include <algorithm>

#include "libcollector/format/names.h"
#include "reader/experiment/json_members.h"

namespace gnomon::reader {

// Returns false if the line has no number of its own.
bool Log::add(const nlohmann::json& line) {
  if (!numbers_.add(line)) return false;
  const auto event = field<std::string>(line, "event");
  const auto time = field<std::uint64_t>(line, "time");
  if (event == format::kLogAttach) is_attached_ = true;
  if (event == format::kLogProcessEnded) process_end_ = time;
  if (event == format::kLogClock) why_signals_ = field<std::string>(line, format::kLogReason);
  if (event == format::kLogCounters) uncounted_ = field<std::string>(line, format::kLogReason);
  if (event == format::kLogWaiting)
    end_of_switches_ = {time, field<std::string>(line, format::kLogReason)};
  if (event == format::kLogPause || event == format::kLogResume)
    turns_.push_back({time, event == format::kLogPause});
  if (event == format::kLogStop)
    stops_.push_back({time, field<std::string>(line, format::kLogReason)});
  return true;
}

// A damaged line is left out: spans and pauses alone depend on the log.
void Log::read_new(const Experiment& experiment) {
  const auto damaged =
      each_new_line(experiment.directory + "/" + format::kLogFile, experiment.header.session, read_,
                    [this](const nlohmann::json& line) { return add(line); });
  lost_ = experiment.control.log_lines;
  if (!damaged) return;
  damaged_ += *damaged;
  lost_ = experiment.is_still ? std::max(damaged_, numbers_.missing(experiment.control.log_lines))
                              : damaged_;
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const Stop& a, const Stop& b) { return a.time < b.time; });
  std::stable_sort(turns_.begin(), turns_.end(),
                   [](const Turn& a, const Turn& b) { return a.time < b.time; });
}

std::vector<Pause> Log::pauses() const {
  std::vector<Pause> pauses;
  bool is_paused = false;
  for (const Turn& turn : turns_) {
    if (turn.is_pause == is_paused) continue;
    is_paused = turn.is_pause;
    if (is_paused)
      pauses.push_back({turn.time});
    else
      pauses.back().end = turn.time;
  }
  return pauses;
}

}  // namespace gnomon::reader
