// An experiment that stays open: its events, call stacks and load objects. Any thread, one at a
// time.
#include "reader/experiment/recording.h"

#include <algorithm>
#include <utility>

namespace gnomon::reader {

Result<Recording> Recording::open(const std::string& directory) {
  auto experiment = open_experiment(directory);
  if (!experiment) return tl::unexpected(experiment.error());
  Recording recording;
  recording.experiment_ = std::move(*experiment);
  for (std::uint16_t kind = 0; kind < format::kDataKinds; ++kind)
    recording.files_.emplace(kind, DataFile(kind));
  return recording;
}

Result<void> Recording::reopen() {
  auto now = open_experiment(experiment_.directory);
  if (!now) return tl::unexpected(now.error());
  const Header &was = experiment_.header, &is = now->header;
  if (was.session != is.session || was.pid != is.pid || was.start_realtime != is.start_realtime)
    return fault(experiment_.directory + " was replaced by another experiment",
                 "repeat the command");
  // Events refer to the header's rows, which do not change.
  now->header = std::move(experiment_.header);
  experiment_ = std::move(*now);
  return {};
}

// Returns nothing if the experiment is closed: then every event is in a data file. A recording that
// ends removes its lanes, which can happen after the experiment was opened and before they are
// read.
Result<std::optional<LaneCopies>> Recording::copy_lanes() {
  std::optional<LaneCopies> lanes;
  if (experiment_.closed) return lanes;
  auto copies = LaneCopies::read(experiment_);
  if (copies) {
    lanes = std::move(*copies);
    return lanes;
  }
  if (auto done = reopen(); !done) return tl::unexpected(done.error());
  if (!experiment_.closed) return tl::unexpected(copies.error());
  return lanes;
}

// The lanes first, then the data files, then the stacks, then the load objects: so whatever refers
// to something is read before it.
Result<bool> Recording::update(const Interrupt& interrupt, const DataFile::Visit& visit) {
  if (is_complete_) return false;
  if (auto done = reopen(); !done) return tl::unexpected(done.error());
  const auto lanes = copy_lanes();
  if (!lanes) return tl::unexpected(lanes.error());
  // After the end of a recording no block is about to come, so such a lane explains none.
  const bool goes_on = *lanes && !experiment_.is_still;
  damaged_lanes_ = goes_on ? (*lanes)->damaged() : 0;
  empty_lanes_ = goes_on ? (*lanes)->empty() : 0;
  bool any = false;
  const auto counted = [&](const Event& event) {
    any = true;
    return visit(event);
  };
  for (auto& [kind, file] : files_)
    if (auto read = file.read_new(experiment_, *lanes ? &**lanes : nullptr, interrupt, counted);
        !read)
      return tl::unexpected(read.error());
  if (auto read = stacks_.read_new(experiment_, interrupt); !read)
    return tl::unexpected(read.error());
  is_complete_ = !*lanes;
  // A call stack may lie in an object that was loaded since the map was read.
  if (!is_complete_)
    if (auto done = reopen(); !done) return tl::unexpected(done.error());
  return any;
}

std::uint64_t Recording::sum_of(std::uint64_t (DataFile::*count)() const) const {
  std::uint64_t sum = 0;
  for (const auto& [kind, file] : files_) sum += (file.*count)();
  return sum;
}

std::uint64_t Recording::blocks() const { return sum_of(&DataFile::blocks); }

std::uint64_t Recording::missing() const {
  const std::uint64_t missing = sum_of(&DataFile::missing);
  return missing - std::min(missing, empty_lanes_);
}

std::uint64_t Recording::damaged() const { return sum_of(&DataFile::damaged) + damaged_lanes_; }

std::uint64_t Recording::unfinished() const { return sum_of(&DataFile::unfinished); }

}  // namespace gnomon::reader
