// Reads the events of an experiment's data files, those in its lanes among them, each once however
// often it looks. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/event.h"
#include "reader/experiment/experiment.h"
#include "reader/experiment/lane_copies.h"

namespace gnomon::reader {

class DataFile {
 public:
  // Called with each event. A fault ends the reading.
  using Visit = std::function<Result<void>(const Event&)>;

  explicit DataFile(std::uint16_t kind) : kind_(kind) {}

  // Visits the events that were not visited before. `lanes`: copied after `experiment` was opened;
  // null: the experiment is closed. What is damaged or missing is counted. Fault: the file is
  // missing or none of this experiment, or whatever `visit` returned; after one the object is of no
  // more use.
  Result<void> read_new(const Experiment& experiment, const LaneCopies* lanes,
                        const Interrupt& interrupt, const Visit& visit);

  // Blocks that were begun.
  std::uint64_t blocks() const { return next_; }
  // Of them: neither in the file nor in a lane.
  std::uint64_t missing() const { return missing_ + beyond_; }
  // Of them: with a wrong header, checksum or record. What stands before that record was visited.
  std::uint64_t damaged() const { return damaged_ + torn_; }
  // Records that their writers left unfinished for ever.
  std::uint64_t unfinished() const { return unfinished_; }

 private:
  using Seen = std::vector<bool>;  // by offset in the block, in units of 8 bytes

  enum class Found { whole, in_lane, torn, nowhere, damaged };
  struct Reading;
  Result<Found> read_block(Reading& reading, std::uint32_t number);
  Result<bool> visit_records(Reading& reading, const Block& block, std::size_t end, bool is_whole,
                             Seen* seen);
  Result<void> look_at(Reading& reading, std::uint32_t number);

  std::uint16_t kind_;
  std::uint32_t next_ = 0;                 // blocks from here on were not looked for yet
  std::map<std::uint32_t, Seen> pending_;  // blocks that were not whole; what was visited of them
  std::uint64_t unfinished_ = 0;
  std::uint64_t missing_ = 0, torn_ = 0;    // as of the last look
  std::uint64_t beyond_ = 0, damaged_ = 0;  // for good; beyond: far behind the end of the file
};

}  // namespace gnomon::reader
