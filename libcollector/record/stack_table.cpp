// Stack table: interns call stacks in the experiment's file `stacks`. Lock-free; any context.
#include "libcollector/record/stack_table.h"

#include <bit>
#include <cerrno>

#include "libcollector/core/atomic.h"
#include "libcollector/format/names.h"

namespace gnomon::collector {
namespace {

void fill(format::StackNode& node, std::uint32_t id, std::uint32_t parent, std::uint64_t pc) {
  node.pc = pc;
  node.parent = parent;
  node.check = format::node_check(format::node_digest(id, node));
}

}  // namespace

Range StackTable::map_head(const ExperimentDirectory& directory, Create create) {
  const Range head =
      map_range({directory, format::kStacksFile}, create, 0, format::kStackNodesOffset);
  if (!head.at) return head;
  directory_ = &directory;
  header_ = static_cast<format::StackHeader*>(head.at);
  buckets_ =
      reinterpret_cast<std::uint32_t*>(static_cast<char*>(head.at) + format::kStackBucketsOffset);
  return head;
}

Range StackTable::open(const ExperimentDirectory& directory, std::uint64_t session) {
  if (const Range head = map_head(directory, Create::must_be_new); !head.at) return head;
  header_->major = format::kFormatMajor;
  header_->session = session;
  header_->buckets = format::kStackBuckets;
  header_->nodes = 1;
  atomic(header_->magic).store(format::kStackMagic, std::memory_order_release);
  return map_segment_of(0);
}

Range StackTable::join(const ExperimentDirectory& directory, std::uint64_t session) {
  if (const Range head = map_head(directory, Create::if_missing); !head.at) return head;
  const bool fits = atomic(header_->magic).load(std::memory_order_acquire) == format::kStackMagic &&
                    header_->major == format::kFormatMajor && header_->session == session &&
                    header_->buckets == format::kStackBuckets;
  return fits ? map_segment_of(0) : Range{nullptr, format::Failure::open_file, ESTALE};
}

// Segment s > 0 holds [kFirstNodes << (s - 1), kFirstNodes << s).
format::StackNode* StackTable::node(std::uint32_t id) {
  const auto s = static_cast<unsigned>(std::bit_width(id / kFirstNodes));
  format::StackNode* base = atomic(segments_[s]).load(std::memory_order_acquire);
  if (!base) base = static_cast<format::StackNode*>(map_segment_of(id).at);
  if (!base) return nullptr;
  return base + (s == 0 ? id : id - (kFirstNodes << (s - 1)));
}

std::uint64_t StackTable::segment_first(unsigned segment) {
  return segment == 0 ? 0 : std::uint64_t{kFirstNodes} << (segment - 1);
}

std::uint64_t StackTable::segment_bytes(unsigned segment) {
  return (segment == 0 ? kFirstNodes : segment_first(segment)) * sizeof(format::StackNode);
}

Range StackTable::map_segment_of(std::uint32_t id) {
  const auto s = static_cast<unsigned>(std::bit_width(id / kFirstNodes));
  if (s >= kSegments) return {nullptr, format::Failure::stacks_full, 0};
  auto slot = atomic(segments_[s]);
  if (format::StackNode* there = slot.load(std::memory_order_acquire)) return {there};
  const std::uint64_t bytes = segment_bytes(s);
  const Range range =
      map_range({*directory_, format::kStacksFile}, Create::if_missing,
                format::kStackNodesOffset + segment_first(s) * sizeof(format::StackNode), bytes);
  if (!range.at) return range;
  format::StackNode* expected = nullptr;
  if (!slot.compare_exchange_strong(expected, static_cast<format::StackNode*>(range.at))) {
    unmap_range(range.at, bytes);  // another thread mapped the same pages first
    return {expected};
  }
  return range;
}

std::uint32_t StackTable::find(std::uint32_t parent, std::uint64_t pc) {
  const auto fits = [&](std::uint32_t id) {
    const format::StackNode* other = node(id);
    return other && other->pc == pc && other->parent == parent;
  };
  const std::uint64_t hash = format::stack_hash(parent, pc);
  if (const std::uint32_t known = index_.find(hash, fits)) return known;
  format::StackPlace place = format::stack_place(hash);
  std::uint32_t there = atomic(buckets_[place.bucket]).load(std::memory_order_acquire);
  while (there != 0 && !fits(there)) {
    format::StackNode* other = node(there);
    if (!other) return 0;
    there = atomic(other->links[place.step()]).load(std::memory_order_acquire);
  }
  if (there != 0) index_.add(hash, there);
  return there;
}

StackTable::Interned StackTable::intern(std::uint32_t parent, std::uint64_t pc) {
  const std::uint64_t hash = format::stack_hash(parent, pc);
  format::StackPlace place = format::stack_place(hash);
  std::uint32_t* link = &buckets_[place.bucket];
  std::uint32_t taken = 0;  // a number for the new node
  for (;;) {
    std::uint32_t there = atomic(*link).load(std::memory_order_acquire);
    if (there == 0) {
      if (taken == 0) {
        taken = atomic(header_->nodes).fetch_add(1, std::memory_order_relaxed);
        if (const Range range = map_segment_of(taken); !range.at)
          return {0, false, range.failure, range.error};
        fill(*node(taken), taken, parent, pc);
      }
      if (atomic(*link).compare_exchange_strong(there, taken, std::memory_order_acq_rel)) break;
    }
    format::StackNode* other = node(there);
    if (!other) return {0, false, format::Failure::map_file, ENOMEM};
    if (other->pc == pc && other->parent == parent) {
      if (taken != 0) *node(taken) = {};  // another thread was faster; the number stays unused
      return {there};
    }
    link = &other->links[place.step()];
  }
  const std::uint64_t digest = format::node_digest(taken, *node(taken));
  atomic(header_->digest).fetch_xor(digest, std::memory_order_relaxed);
  index_.add(hash, taken);
  return {taken, true};
}

void StackTable::close(bool last) {
  if (!header_) return;
  const std::uint64_t nodes = header_->nodes;
  if (last) atomic(header_->closed).store(1, std::memory_order_release);
  unmap_range(header_, format::kStackNodesOffset);
  for (unsigned s = 0; s < kSegments; ++s)
    if (segments_[s]) unmap_range(segments_[s], segment_bytes(s));
  index_.clear();
  if (last)
    cut_file({*directory_, format::kStacksFile},
             format::kStackNodesOffset + nodes * sizeof(format::StackNode));
  *this = {};
}

}  // namespace gnomon::collector
