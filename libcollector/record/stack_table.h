// Stack table: interns call stacks in the experiment's file `stacks`. Lock-free; any context.
#pragma once
#include <cstdint>

#include "libcollector/format/block.h"
#include "libcollector/format/stacks.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/stack_index.h"

namespace gnomon::collector {

// Lives in zeroed memory: no constructor, all-zero is the closed table.
class StackTable {
 public:
  // Creates the file in `directory`, which must outlive the table. Normal context.
  Range open(const ExperimentDirectory& directory, std::uint64_t session);
  // Opens the file that another process has created: both intern from here on.
  Range join(const ExperimentDirectory& directory, std::uint64_t session);

  struct Interned {
    std::uint32_t node = 0;  // 0: not interned, see failure
    bool fresh = false;      // this call added the node
    format::Failure failure = format::Failure::none;
    int error = 0;
  };
  // last: marks the file as complete and cuts it to its size, because no process interns any more.
  // The table may be opened again. Does nothing on a table that is not open.
  void close(bool last);

  // The node of frame `pc` called from node `parent`.
  Interned intern(std::uint32_t parent, std::uint64_t pc);
  // Returns the node, 0 if the table does not have it.
  std::uint32_t find(std::uint32_t parent, std::uint64_t pc);

 private:
  // Nodes are mapped in segments, each as large as all before it: segment 0 holds kFirstNodes.
  static constexpr std::uint32_t kFirstNodes = format::kStackFirstNodes;
  static constexpr std::uint32_t kSegments = 22;

  static std::uint64_t segment_first(unsigned segment);  // node
  static std::uint64_t segment_bytes(unsigned segment);
  Range map_head(const ExperimentDirectory& directory, Create create);
  // Returns the node; null if another process has added it and its part of the file cannot be
  // mapped.
  format::StackNode* node(std::uint32_t id);
  Range map_segment_of(std::uint32_t id);

  const ExperimentDirectory* directory_;
  format::StackHeader* header_;
  std::uint32_t* buckets_;
  format::StackNode* segments_[kSegments];
  StackIndex index_;
};

}  // namespace gnomon::collector
