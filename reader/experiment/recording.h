// An experiment that stays open: its events, call stacks and load objects, as far as they have been
// read. Any thread, one at a time.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/data_file.h"
#include "reader/experiment/experiment.h"
#include "reader/experiment/stacks.h"

namespace gnomon::reader {

class Recording {
 public:
  // Reads no event yet.
  static Result<Recording> open(const std::string& directory);

  // Reads what was written since the last call and visits each event. Returns false if there was
  // nothing new. Fault: damage, an interruption, or what `visit` returned; after one the object is
  // of no more use.
  Result<bool> update(const Interrupt& interrupt, const DataFile::Visit& visit);

  const Experiment& experiment() const { return experiment_; }
  const Stacks& stacks() const { return stacks_; }
  // Numbers of blocks of events: all that were begun, the missing ones, the damaged ones. A
  // recording that goes on may be about to begin a block for each empty lane.
  std::uint64_t blocks() const;
  std::uint64_t missing() const;
  std::uint64_t damaged() const;
  // Records that their writers left unfinished for ever.
  std::uint64_t unfinished() const;

 private:
  std::uint64_t sum_of(std::uint64_t (DataFile::*count)() const) const;
  Result<void> reopen();
  Result<std::optional<LaneCopies>> copy_lanes();

  Experiment experiment_;
  std::map<std::uint16_t, DataFile> files_;  // by data kind
  Stacks stacks_;
  std::uint64_t damaged_lanes_ = 0, empty_lanes_ = 0;  // of a recording that goes on
  bool is_complete_ = false;  // the experiment was sealed when it was read last
};

}  // namespace gnomon::reader
