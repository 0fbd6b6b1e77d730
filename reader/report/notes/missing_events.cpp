// Sentences about events that a recording has lost, to stand above a table. Any thread.
#include "reader/report/notes/missing_events.h"

#include <fmt/format.h>

#include "libcollector/format/names.h"
#include "reader/experiment/counted.h"
#include "reader/report/notes/unrecorded.h"

namespace gnomon::reader {
namespace {

void add_lost_blocks(const Recording& recording, std::vector<std::string>& notes) {
  if (const auto count = recording.missing(); count != 0)
    notes.push_back(
        fmt::format("blocks of events that are missing: {} of {}; the program could not write them "
                    "at its end, or they were lost since.",
                    count, recording.blocks()));
  if (const auto count = recording.damaged(); count != 0)
    notes.push_back(
        fmt::format("blocks of events that are damaged: {} of {}; events are missing, some hundred "
                    "a block.",
                    count, recording.blocks()));
  if (const auto count = recording.unfinished(); count != 0)
    notes.push_back(fmt::format("events left unfinished when their thread ended: {}.", count));
}

bool may_miss_frees(const Part& part) {
  const auto& dropped = part.experiment().control.dropped;
  const auto count = [&](format::Drop drop) { return dropped[static_cast<std::size_t>(drop)]; };
  return count(format::Drop::writers_busy) != 0 || count(format::Drop::no_lane) != 0 ||
         part.recording().missing() != 0 || part.recording().damaged() != 0;
}

// Somebody has asked gnomon-sampler to record what the kernel's rings hold, and waits no longer.
bool has_open_request(const format::Mailbox& box) {
  return box.sequence % 2 == 0 && box.answered != box.sequence;
}

// What the files that name counters and watches lack.
void add_missing_names(const Experiment& experiment, std::vector<std::string>& notes) {
  const std::size_t watches =
      experiment.control.watches == 0
          ? 0
          : watches_of(experiment.directory, experiment.header.session).size();
  const auto add = [&](std::size_t known, std::uint32_t begun, const char* what, const char* file) {
    if (known < begun)
      notes.push_back(
          fmt::format("{} of {} {} are not known, and what they counted is not shown: {} is "
                      "damaged or missing.",
                      begun - known, begun, what, file));
  };
  add(experiment.counters.size(), experiment.control.counters, "counters", format::kCountersFile);
  add(watches, experiment.control.watches, "watches", format::kWatchesFile);
}

}  // namespace

void add_missing_events(const Part& part, std::vector<std::string>& notes) {
  const Experiment& experiment = part.experiment();
  const format::ControlPage& control = experiment.control;
  if (experiment.state() == format::State::failed)
    notes.push_back(fmt::format("recording stopped early: {}.", failure_text(control)));
  if (std::string note = outside_note(experiment.header); !note.empty())
    notes.push_back(std::move(note));
  if (has_executed(experiment))
    notes.emplace_back(
        "the program executed another (exec), which is not recorded: start that one to see it.");
  for (const auto& [drop, what] : format::kDrops)
    if (const auto count = control.dropped[static_cast<std::size_t>(drop)]; count != 0)
      notes.push_back(fmt::format("{}: {}.", what, count));
  if (control.kept_threads != 0)
    notes.push_back(fmt::format(
        "threads that were in the middle of a traced call when the recording ended: {}; of each "
        "that call may be missing. Their last {} events are still in the file lanes.",
        control.kept_threads, control.kept_events));
  if (is_recording(experiment) && has_open_request(control.mailbox))
    notes.emplace_back(
        "gnomon-sampler has not answered yet, so that what the kernel has counted and sampled last "
        "is missing: ask again.");
  add_lost_blocks(part.recording(), notes);
  add_missing_names(experiment, notes);
  if (!part.heap().is_empty() && may_miss_frees(part))
    notes.emplace_back(
        "calls of free may be among the events that are missing: a block that was freed may show "
        "as a leak.");
  if (const auto count = part.instants().log.lost(); count != 0)
    notes.push_back(
        fmt::format("lines of log.jsonl that are damaged or missing: {}: stops and pauses may be "
                    "missing.",
                    count));
}

}  // namespace gnomon::reader
