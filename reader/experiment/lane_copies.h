// Copies of the blocks that are still in an experiment's lanes, taken while writers may be filling
// them. Any thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libcollector/format/block.h"
#include "reader/base/result.h"
#include "reader/experiment/experiment.h"

namespace gnomon::reader {

using Block = std::array<std::uint64_t, format::kBlockBytes / sizeof(std::uint64_t)>;

// The blocks that were in lanes. Each lane is copied twice, for a copy is not of one moment: the
// end of a record can be in it whose beginning is not. Words of a block change from 0, and never
// back. So where both copies are the same they show the lane as it was between them.
class LaneCopies {
 public:
  struct Copy {
    Block block;
    std::size_t steady;  // bytes, from the beginning, in which the copies are the same
  };
  // Fault: the file is missing. The experiment is not closed.
  static Result<LaneCopies> read(const Experiment& experiment);
  // Lanes that held no block: their writers may have been about to begin one.
  std::size_t empty() const { return empty_; }
  // Lanes whose header is none of this experiment's.
  std::uint64_t damaged() const { return damaged_; }
  // Returns null if no lane held that block.
  const Copy* find(std::uint16_t kind, std::uint32_t number) const;
  // The numbers of the blocks of that kind from `first` on, ascending.
  std::vector<std::uint32_t> numbers(std::uint16_t kind, std::uint32_t first) const;

 private:
  std::map<std::pair<std::uint16_t, std::uint32_t>, Copy> blocks_;
  std::size_t empty_ = 0;
  std::uint64_t damaged_ = 0;
};

inline const format::BlockHeader& header_of(const Block& block) {
  return *reinterpret_cast<const format::BlockHeader*>(block.data());
}

// Returns true if the header is that of a block of this experiment, of whatever kind.
bool is_of(const format::BlockHeader& header, const Experiment& experiment);

}  // namespace gnomon::reader
