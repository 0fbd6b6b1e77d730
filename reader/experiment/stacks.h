// Call stacks of an experiment: the tree in which the collector interned them. Any thread, one at a
// time.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcollector/format/stacks.h"
#include "reader/base/interrupt.h"
#include "reader/base/large_vector.h"
#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/io/file.h"

namespace gnomon::reader {

// The call stacks that an event may name: a stack stands in the table before that.
class StackRoom {
 public:
  explicit StackRoom(std::string directory) : directory_(std::move(directory)) {}
  // Returns false if no node has that number or a higher one. Looks at the file only if there was
  // none when it looked last.
  bool has(std::uint64_t id);

 private:
  std::string directory_;
  std::uint64_t room_ = 0;  // behind the last node that was seen
};

class Stacks {
 public:
  // Reads the nodes that were added since the last call. To be called after the events were read: a
  // stack stands in the table before an event refers to it. Fault: damage; after one the object is
  // of no more use.
  Result<void> read_new(const Experiment& experiment, const Interrupt& interrupt = {});

  // What reports need of a format::StackNode.
  struct Node {
    std::uint64_t pc = 0;
    std::uint32_t parent = 0;
    std::uint32_t check = 0;
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  bool contains(StackId id) const { return index(id) < size() && is_sound_[index(id)]; }
  // id: contained.
  const Node& node(StackId id) const { return nodes_[index(id)]; }
  StackId parent(StackId id) const { return StackId{node(id).parent}; }

 private:
  bool take(std::uint32_t id, const format::StackNode& node);
  Result<void> append(const File& file, std::uint64_t end, const Interrupt& interrupt);

  LargeVector<Node> nodes_;
  std::vector<bool> is_sound_;          // was linked, as far as its checksum tells
  std::vector<std::uint32_t> missing_;  // numbers given out whose nodes were not there yet
  std::uint64_t digest_ = 0;            // of the sound ones
};

}  // namespace gnomon::reader
