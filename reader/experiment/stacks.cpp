// Call stacks of an experiment: the tree in which the collector interned them. Any thread, one at a
// time.
#include "reader/experiment/stacks.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>

#include "libcollector/format/names.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

using format::StackNode;

tl::unexpected<Fault> damaged(const std::string& path, const std::string& how) {
  return fault(path + " is damaged: " + how, "record again");
}

std::uint64_t place_of(std::uint32_t id) {
  return format::kStackNodesOffset + std::uint64_t{id} * sizeof(StackNode);
}

template <typename Node>
bool is_empty(const Node& node) {
  return node.pc == 0 && node.parent == 0 && node.check == 0;
}

// Reads the nodes from `id` on that the file holds. Returns how many; they are the first of `to`.
Result<std::size_t> read_nodes(const File& file, std::uint64_t id, std::span<StackNode> to) {
  const auto read = file.read(place_of(0) + id * sizeof(StackNode), std::as_writable_bytes(to));
  if (!read) return tl::unexpected(read.error());
  return *read / sizeof(StackNode);
}

// Numbers are given out in order, so only what threads have not written yet lies empty between
// nodes; a file with a larger hole was made to be large.
constexpr std::size_t kMostEmpty = 1 << 16, kPiece = 1 << 16;  // nodes
constexpr std::uint64_t kMostNodes = 1ull << 30;

}  // namespace

bool StackRoom::has(std::uint64_t id) {
  if (id < room_) return true;
  const auto file = File::open(directory_ + "/" + format::kStacksFile);
  if (!file || id >= kMostNodes) return false;
  std::vector<StackNode> nodes(kPiece);
  std::size_t empty = 0;
  for (std::uint64_t at = room_; empty <= kMostEmpty;) {
    const std::size_t got = read_nodes(*file, at, nodes).value_or(0);
    for (std::size_t i = 0; i < got && empty <= kMostEmpty; ++i) {
      empty = is_empty(nodes[i]) ? empty + 1 : 0;
      if (empty == 0) room_ = at + i + 1;
    }
    at += got;
    if (got < nodes.size()) break;
  }
  return id < room_;
}

// Returns true if the node is sound. A node's links are the writers' business: what a node is, its
// own checksum says.
bool Stacks::take(std::uint32_t id, const StackNode& node) {
  nodes_[id] = {node.pc, node.parent, node.check};
  const std::uint64_t digest = format::node_digest(id, node);
  if (node.parent >= id || node.check != format::node_check(digest)) return false;
  is_sound_[id] = true;
  digest_ ^= digest;
  return true;
}

// Reads the nodes up to number `end`, piece by piece.
Result<void> Stacks::append(const File& file, std::uint64_t end, const Interrupt& interrupt) {
  if (end > kMostNodes) return fault("a file of call stacks has too many nodes", "record again");
  std::vector<StackNode> piece;
  std::size_t empty = 0;
  nodes_.reserve(end);
  while (size() < end) {
    if (interrupt.asked()) return interrupted();
    const std::uint32_t begin = size();
    piece.assign(std::min<std::uint64_t>(end - begin, kPiece), {});
    if (const auto read = read_nodes(file, begin, piece); !read)
      return tl::unexpected(read.error());
    nodes_.resize(begin + piece.size());
    is_sound_.resize(nodes_.size());
    for (std::uint32_t i = 0; i < piece.size(); ++i) {
      empty = is_empty(piece[i]) ? empty + 1 : 0;
      if (begin + i != 0 && !take(begin + i, piece[i])) missing_.push_back(begin + i);
    }
    if (empty > kMostEmpty) return fault("a file of call stacks has a hole", "record again");
  }
  return {};
}

Result<void> Stacks::read_new(const Experiment& experiment, const Interrupt& interrupt) {
  const std::string path = experiment.directory + "/" + format::kStacksFile;
  const auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  format::StackHeader header{};
  if (const auto read = file->read(0, std::as_writable_bytes(std::span(&header, 1))); !read)
    return tl::unexpected(read.error());
  if (header.magic != format::kStackMagic || header.major != format::kFormatMajor ||
      header.session != experiment.header.session)
    return damaged(path, "its header is wrong");
  if (experiment.closed && header.closed != 1) return damaged(path, "it is not closed");
  const std::uint64_t bytes = file->size();
  // A writer that has taken a number may not have made the room for it yet.
  const std::uint64_t room = bytes < place_of(0) ? 0 : (bytes - place_of(0)) / sizeof(StackNode);
  if (header.closed == 1 && room < header.nodes) return damaged(path, "its end is missing");
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t id : missing_) {
    if (interrupt.asked(id)) return interrupted();
    StackNode node{};
    if (auto read = read_nodes(*file, id, std::span(&node, 1)); !read)
      return tl::unexpected(read.error());
    if (!take(id, node)) missing.push_back(id);
  }
  missing_ = std::move(missing);
  if (auto read = append(*file, std::min<std::uint64_t>(header.nodes, room), interrupt); !read)
    return read;
  if (header.closed != 1) return {};
  for (const std::uint32_t id : missing_)
    if (!is_empty(nodes_[id]))
      return damaged(path, "call stack " + std::to_string(id) + " is wrong");
  if (digest_ != header.digest) return damaged(path, "its checksum is wrong");
  return {};
}

}  // namespace gnomon::reader
