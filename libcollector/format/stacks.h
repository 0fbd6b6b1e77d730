// Stacks: the file of interned call stacks. Plain structs shared by target, sampler and reader.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/format/block.h"

namespace gnomon::format {

// A call stack is a path in a tree: a node is one frame and points to the frame that called it, so
// stacks that share outer frames share nodes, and a stack is named by the node of its leaf. Equal
// paths are one node: writers look for a node where stack_place says before they add one. A node's
// pc, parent and check never change once a link leads to it; a link that leads to a node stays.
//
// File: StackHeader, kStackBuckets links (u32) from kStackBucketsOffset, nodes from
// kStackNodesOffset.
inline constexpr std::uint32_t kStackMagic = 0x54534e47;  // "GNST"
inline constexpr std::uint64_t kStackBucketsOffset = 64;
inline constexpr std::uint32_t kStackBuckets = 1008;
inline constexpr std::uint64_t kStackNodesOffset =
    kStackBucketsOffset + kStackBuckets * sizeof(std::uint32_t);
static_assert(kStackNodesOffset == 4096);

struct StackHeader {
  std::uint32_t magic;
  std::uint16_t major;
  std::uint16_t reserved;
  std::uint64_t session;
  std::uint32_t buckets;
  std::uint32_t nodes;   // numbers given out; node 0 is the empty stack and is counted
  std::uint64_t digest;  // node_digest of every linked node, combined by xor
  std::uint32_t closed;  // 1: no node is added any more, and digest is of all of them
  std::uint32_t reserved2;
};
static_assert(sizeof(StackHeader) == 40);
static_assert(offsetof(StackHeader, nodes) == 20);
static_assert(offsetof(StackHeader, digest) == 24);

struct StackNode {
  std::uint64_t pc;      // leaf: next instruction; callers: inside the call instruction
  std::uint32_t parent;  // the caller's node; always a smaller number; 0: outermost
  std::uint32_t check;   // node_check
  // Nodes of the same bucket further down, which has nothing to do with callers; 0: none yet.
  std::uint32_t links[4];
};
static_assert(sizeof(StackNode) == 32);
static_assert(offsetof(StackNode, links) == 16);

// Room for so many nodes is made first; each further piece doubles the room.
inline constexpr std::uint32_t kStackFirstNodes = 128;

// How the walk that found a call stack ended.
// depth: at the limit of frames. foreign_stack: at the end of a stack that is none of the thread's,
// such as a coroutine's. no_object: in code that lies in no load object. no_rule: in code without
// unwind information. damaged: at unwind information that is damaged or does not fit the stack.
enum class WalkEnd : std::uint8_t {
  whole = 0,
  cut = 1,
  depth = 2,
  foreign_stack = 3,
  no_object = 4,
  no_rule = 5,
  damaged = 6,
  beyond_copy = 7,
};
inline constexpr std::size_t kWalkEnds = 8;

// Instead of a pc, in an outermost node, unless the stack is whole and all of its callers are found
// by unwind information: WalkEnd, and kGuessed if some are not.
inline constexpr std::uint64_t kGuessed = 8, kWalkMarks = 16;
constexpr std::uint64_t walk_mark(WalkEnd end, bool guessed) {
  return static_cast<std::uint64_t>(end) | (guessed ? kGuessed : 0);
}
constexpr bool is_walk_mark(std::uint64_t pc) { return pc != 0 && pc < kWalkMarks; }
constexpr WalkEnd end_of_mark(std::uint64_t mark) {
  return static_cast<WalkEnd>(mark & (kGuessed - 1));
}

// The uppermost four bits of a pc are 0 in user code and 15 in the kernel. Any other value marks a
// node that is no frame. The marks stand in the outermost nodes: the epoch's, then the walk's.
constexpr unsigned pc_tag(std::uint64_t pc) { return static_cast<unsigned>(pc >> 60); }
constexpr bool is_kernel(std::uint64_t pc) { return pc_tag(pc) == 15; }

// The epoch of the stack, 1 or more; stacks without the mark are of epoch 0. Each unloading of code
// that was met begins an epoch: an address means one function within it.
inline constexpr unsigned kEpochTag = 8;
constexpr std::uint64_t epoch_mark(std::uint32_t epoch) {
  return std::uint64_t{kEpochTag} << 60 | epoch;
}
constexpr bool is_epoch_mark(std::uint64_t pc) { return pc_tag(pc) == kEpochTag; }

// A frame that is no code but says what a thread was doing, when nothing tells where.
enum class Activity : std::uint32_t {
  system = 1,         // something in the kernel
  short_threads = 2,  // it has not used so much CPU time that its clock would have ticked
  unsampled = 3,      // its clock has not ticked for a while, though it was on a CPU
  waiting = 4,        // it was off a CPU
  final_counts = 5,   // what a counter has counted since its last sample
  frozen_counts = 6,  // what it has counted when the kernel took no samples
  lost = 7,           // accesses or calls of which the samples are lost
  watch = 8,          // the processor reported an access or a call that is watched
};
inline constexpr unsigned kActivityTag = 9;
constexpr std::uint64_t activity_frame(Activity activity) {
  return std::uint64_t{kActivityTag} << 60 | static_cast<std::uint32_t>(activity);
}
constexpr bool is_activity(std::uint64_t pc) { return pc_tag(pc) == kActivityTag; }

constexpr std::uint64_t node_digest(std::uint32_t id, const StackNode& node) {
  return digest_step(digest_step(id, node.pc), node.parent);
}

constexpr std::uint32_t node_check(std::uint64_t digest) {
  return static_cast<std::uint32_t>(digest ^ digest >> 32);
}

// Where a frame's node is to be found: in the bucket, and at each node on the way that is not it,
// through the link that the next two bits say. So the way is short in a table of any size.
struct StackPlace {
  std::uint32_t bucket;
  std::uint64_t bits;  // the next two are the uppermost

  constexpr std::uint32_t step() {
    const auto link = static_cast<std::uint32_t>(bits >> 62);
    bits <<= 2;
    return link;
  }
};

constexpr std::uint64_t stack_hash(std::uint32_t parent, std::uint64_t pc) {
  std::uint64_t h = (pc ^ (std::uint64_t{parent} << 32 | parent)) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  return h * 0xbf58476d1ce4e5b9ull;
}

constexpr StackPlace stack_place(std::uint64_t hash) {
  return {static_cast<std::uint32_t>(hash >> 48) % kStackBuckets, hash << 16};
}

constexpr StackPlace stack_place(std::uint32_t parent, std::uint64_t pc) {
  return stack_place(stack_hash(parent, pc));
}

}  // namespace gnomon::format
