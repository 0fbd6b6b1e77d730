// Call stacks of an experiment: the tree the collector interned them in. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcollector/format/stacks.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/io/mapped_file.h"

namespace gnomon::reader {

class Stacks {
 public:
  // Open after the events were read: a stack stands in the table before an event refers to it.
  static Result<Stacks> open(const Experiment& experiment, const Interrupt& interrupt = {});

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  bool contains(StackId id) const { return index(id) < sound_.size() && sound_[index(id)]; }
  // id: contained. The parent is contained too, or none.
  const format::StackNode& node(StackId id) const { return nodes_[index(id)]; }
  StackId parent(StackId id) const { return StackId{node(id).parent}; }

 private:
  Result<std::uint64_t> follow_buckets(const Interrupt& interrupt);
  Result<std::uint64_t> follow(std::uint32_t bucket, std::uint32_t first);
  bool is_newer(std::uint32_t id) const;

  std::string path_;
  MappedFile file_;
  bool closed_ = false;
  std::span<const format::StackNode> nodes_;
  std::vector<bool> sound_;  // linked from its place
};

}  // namespace gnomon::reader
