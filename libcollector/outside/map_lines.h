// What map.jsonl says that is loaded in the recorded process, line after line as they are written.
// In gnomon-sampler.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcollector/core/byte_range.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::outside {

// When an epoch began: an address means one function within an epoch.
struct Epoch {
  std::uint32_t number = 0;
  std::uint64_t begin = 0;  // CLOCK_MONOTONIC, ns
};

class MapLines {
 public:
  // Reads the lines that have been added. Calls unloaded(range) for each object that was unloaded.
  template <typename Unloaded>
  void follow(const collector::ExperimentDirectory& directory, Unloaded unloaded) {
    for (const Line& line : next_lines(directory)) {
      if (line.is_load) {
        loaded_.push_back({line.where, line.bias});
        continue;
      }
      forget(line.where);
      epochs_.push_back({line.epoch, line.time});
      unloaded(line.where);
    }
  }
  // Returns true if a line says that the object at `where` is loaded.
  bool has(const collector::ByteRange& where, std::uint64_t bias) const;
  // Of a moment, CLOCK_MONOTONIC in ns.
  std::uint32_t epoch_at(std::uint64_t time) const;

 private:
  struct Line {
    bool is_load;
    collector::ByteRange where;
    std::uint64_t bias, time;
    std::uint32_t epoch;
  };
  struct Loaded {
    collector::ByteRange where;
    std::uint64_t bias;
  };
  std::vector<Line> next_lines(const collector::ExperimentDirectory& directory);
  void forget(const collector::ByteRange& where);

  std::uint64_t offset_ = 0;  // of the file, bytes
  std::string rest_;          // an unfinished line
  std::vector<Loaded> loaded_;
  std::vector<Epoch> epochs_;  // but the first
};

}  // namespace gnomon::outside
