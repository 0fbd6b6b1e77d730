// Stack table: interns call stacks in the experiment's file `stacks`. Lock-free; any context.
#include "libcollector/core/stack_table.h"

#include <bit>

#include "libcollector/core/atomic.h"

namespace gnomon::collector {
Range StackTable::open(const char* path, std::uint64_t session) {
  const Range head = map_range(path, 0, format::kStackNodesOffset);
  if (!head.at) return head;
  path_ = path;
  header_ = static_cast<format::StackHeader*>(head.at);
  buckets_ =
      reinterpret_cast<std::uint32_t*>(static_cast<char*>(head.at) + format::kStackBucketsOffset);
  header_->major = format::kFormatMajor;
  header_->session = session;
  header_->buckets = format::kStackBuckets;
  header_->nodes = 1;
  atomic(header_->magic).store(format::kStackMagic, std::memory_order_release);
  return map_segment_of(0);
}

// Segment s > 0 holds [kFirstNodes << (s - 1), kFirstNodes << s).
format::StackNode* StackTable::node(std::uint32_t id) const {
  const auto s = static_cast<unsigned>(std::bit_width(id / kFirstNodes));
  format::StackNode* base = atomic(segments_[s]).load(std::memory_order_acquire);
  return base + (s == 0 ? id : id - (kFirstNodes << (s - 1)));
}

Range StackTable::map_segment_of(std::uint32_t id) {
  const auto s = static_cast<unsigned>(std::bit_width(id / kFirstNodes));
  if (s >= kSegments) return {nullptr, format::Failure::stacks_full, 0};
  auto slot = atomic(segments_[s]);
  if (format::StackNode* there = slot.load(std::memory_order_acquire)) return {there};
  const std::uint64_t first = s == 0 ? 0 : std::uint64_t{kFirstNodes} << (s - 1);
  const std::uint64_t bytes = (s == 0 ? kFirstNodes : first) * sizeof(format::StackNode);
  const Range range =
      map_range(path_, format::kStackNodesOffset + first * sizeof(format::StackNode), bytes);
  if (!range.at) return range;
  format::StackNode* expected = nullptr;
  if (!slot.compare_exchange_strong(expected, static_cast<format::StackNode*>(range.at))) {
    unmap_range(range.at, bytes);  // another thread mapped the same pages first
    return {expected};
  }
  return range;
}

std::uint32_t StackTable::find(std::uint32_t from, std::uint32_t until, std::uint32_t parent,
                               std::uint64_t pc) const {
  for (std::uint32_t id = from; id != until;) {
    const format::StackNode* n = node(id);
    if (n->pc == pc && n->parent == parent) return id;
    id = n->next;
  }
  return 0;
}

StackTable::Interned StackTable::intern(std::uint32_t parent, std::uint64_t pc) {
  auto bucket = atomic(buckets_[format::stack_bucket(parent, pc)]);
  std::uint32_t head = bucket.load(std::memory_order_acquire);
  if (const std::uint32_t id = find(head, 0, parent, pc)) return {id};

  const std::uint32_t id = atomic(header_->nodes).fetch_add(1, std::memory_order_relaxed);
  if (const Range range = map_segment_of(id); !range.at)
    return {0, false, range.failure, range.error};
  format::StackNode* fresh = node(id);
  fresh->pc = pc;
  fresh->parent = parent;
  fresh->next = head;
  while (!bucket.compare_exchange_weak(head, id, std::memory_order_acq_rel)) {
    // Others added to the chain meanwhile; perhaps this very frame. The number taken stays unused.
    if (const std::uint32_t same = find(head, fresh->next, parent, pc)) {
      *fresh = {};
      return {same};
    }
    fresh->next = head;
  }
  atomic(header_->digest).fetch_xor(format::node_digest(id, *fresh), std::memory_order_relaxed);
  return {id, true};
}

void StackTable::close() {
  if (header_) atomic(header_->closed).store(1, std::memory_order_release);
}

}  // namespace gnomon::collector
