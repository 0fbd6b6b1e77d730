// An experiment: a directory NAME.er, written by a collector that may still be writing. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcollector/format/control.h"
#include "reader/base/result.h"
#include "reader/experiment/counted.h"
#include "reader/experiment/header.h"

namespace gnomon::reader {

// What tells the file of a load object apart from other builds of it.
struct FileIdentity {
  std::string build_id;  // hexadecimal, empty: none
  // Of a file without a build-id; 0: not known. modified: ns since 1970. layout: format/layout.h.
  std::uint64_t bytes = 0, modified = 0, layout = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// A load object of map.jsonl, and the epochs in which it was there.
struct LoadObject {
  static constexpr std::uint32_t kForGood = ~0u;
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  std::uint64_t begin = 0, end = 0;
  std::uint64_t bias = 0;  // address in the process minus address in the file
  std::string path;
  FileIdentity file;
  std::uint32_t first_epoch = 0, end_epoch = kForGood;

  bool holds(std::uint64_t pc, std::uint32_t epoch) const {
    return pc >= begin && pc < end && epoch >= first_epoch && epoch < end_epoch;
  }
};

struct Experiment {
  std::string directory;
  Header header;
  format::ControlPage control{};   // as it was when the experiment was opened
  bool closed = false;             // nothing is added any more, and every checksum is there
  bool is_still = false;           // closed, or its process is over
  bool is_being_finished = false;  // gnomon-sampler writes what it has read of the process
  std::vector<LoadObject> objects;
  std::vector<CounterLine> counters;

  format::State state() const { return static_cast<format::State>(control.state); }
};

// Checks that the directory is an experiment this program can read, and reads its small files.
Result<Experiment> open_experiment(const std::string& directory);

bool was_told_to_end(const Experiment& experiment);
// Returns true if the program has called execve(2) while it was recorded and the call has not
// failed: another program runs in the process, or is about to.
bool has_executed(const Experiment& experiment);
// Returns true if events are not recorded at the moment, though the recording goes on.
bool is_paused(const Experiment& experiment);
// Returns true if no more events are recorded because there is no room for them by the setting.
bool is_size_limit_reached(const Experiment& experiment);
// Returns true if the recording has begun and nothing says that it has ended.
bool is_recording(const Experiment& experiment);

// Why recording failed, and what to do: "the disk is full; free space". For state `failed`.
std::string failure_text(const format::ControlPage& control);

}  // namespace gnomon::reader
