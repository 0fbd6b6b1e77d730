// Stacks: the file of interned call stacks. Plain structs shared by target, sampler and reader.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/format/block.h"

namespace gnomon::format {

// A call stack is a path in a tree: a node is one frame and points to the frame that called it, so
// stacks that share outer frames share nodes, and a stack is named by the node of its leaf. Equal
// paths are one node: writers find a node through the bucket of its (parent, pc) before they add
// one. A node never changes once a bucket's chain leads to it.
//
// File: StackHeader, then kStackBuckets heads of chains (u32), then nodes from kStackNodesOffset.
inline constexpr std::uint32_t kStackMagic = 0x54534e47;  // "GNST"
inline constexpr std::uint32_t kStackBuckets = 64 * 1024;
inline constexpr std::uint64_t kStackBucketsOffset = 4096;
inline constexpr std::uint64_t kStackNodesOffset =
    kStackBucketsOffset + kStackBuckets * sizeof(std::uint32_t);

struct StackHeader {
  std::uint32_t magic;
  std::uint16_t major;
  std::uint16_t reserved;
  std::uint64_t session;
  std::uint32_t buckets;
  std::uint32_t nodes;   // numbers given out; node 0 is the empty stack and is counted
  std::uint64_t digest;  // node_digest of every node in a chain, combined by xor
  std::uint32_t closed;  // 1: no node is added any more, and digest is of all of them
  std::uint32_t reserved2;
};
static_assert(sizeof(StackHeader) == 40);
static_assert(offsetof(StackHeader, nodes) == 20);
static_assert(offsetof(StackHeader, digest) == 24);

struct StackNode {
  std::uint64_t pc;      // leaf: next instruction; callers: inside the call instruction
  std::uint32_t parent;  // the caller's node; always a smaller number; 0: outermost
  std::uint32_t next;    // next node of the same bucket; 0: end
};
static_assert(sizeof(StackNode) == 16);

// Instead of a pc, in the outermost node: the walk ended before the stack did.
inline constexpr std::uint64_t kTruncatedMarker = 1;

// Instead of a pc, in the outermost node (a cut stack's marker stands below it): the epoch, 1 or
// more. Stacks without it are of epoch 0. Each unloading of code that was met begins an epoch:
// an address means one function within it.
inline constexpr std::uint64_t kEpochBit = 1ull << 63;
constexpr std::uint64_t epoch_mark(std::uint32_t epoch) { return kEpochBit | epoch; }

constexpr std::uint64_t node_digest(std::uint32_t id, const StackNode& node) {
  const std::uint64_t place = digest_step(id, node.pc);
  return digest_step(place, std::uint64_t{node.parent} << 32 | node.next);
}

constexpr std::uint32_t stack_bucket(std::uint32_t parent, std::uint64_t pc) {
  std::uint64_t h = (pc ^ (std::uint64_t{parent} << 32 | parent)) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ull;
  return static_cast<std::uint32_t>(h >> 48) % kStackBuckets;
}

}  // namespace gnomon::format
