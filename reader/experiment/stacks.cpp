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

bool is_empty(const StackNode& node) { return node.pc == 0 && node.parent == 0 && node.check == 0; }

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

// A node's links are the writers' business: what a node is, its own checksum says.
bool Stacks::is_node(std::uint32_t id) const {
  const StackNode& node = nodes_[id];
  return node.parent < id && node.check == format::node_check(format::node_digest(id, node));
}

// Reads the nodes up to number `end`, piece by piece.
Result<void> Stacks::append(const File& file, std::uint64_t end, const Interrupt& interrupt) {
  if (end > kMostNodes) return fault("a file of call stacks has too many nodes", "record again");
  std::size_t empty = 0;
  while (size() < end) {
    if (interrupt.asked()) return interrupted();
    const std::uint32_t begin = size();
    nodes_.resize(std::min<std::uint64_t>(end, begin + std::uint64_t{kPiece}));
    is_sound_.resize(nodes_.size());
    if (const auto read = read_nodes(file, begin, std::span(nodes_).subspan(begin)); !read)
      return tl::unexpected(read.error());
    for (std::uint32_t id = begin; id < size(); ++id) {
      missing_.push_back(id);
      empty = is_empty(nodes_[id]) ? empty + 1 : 0;
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
  const std::uint32_t begin = size();
  if (auto read = append(*file, std::min<std::uint64_t>(header.nodes, room), interrupt); !read)
    return read;
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t id : missing_) {
    if (interrupt.asked(id + 1)) return interrupted();
    if (id == 0) continue;
    if (id < begin)
      if (auto read = read_nodes(*file, id, std::span(&nodes_[id], 1)); !read)
        return tl::unexpected(read.error());
    is_sound_[id] = is_node(id);
    if (is_sound_[id]) continue;
    if (header.closed == 1 && !is_empty(nodes_[id]))
      return damaged(path, "call stack " + std::to_string(id) + " is wrong");
    missing.push_back(id);
  }
  missing_ = std::move(missing);
  if (header.closed != 1) return {};
  std::uint64_t digest = 0;
  for (std::uint32_t id = 1; id < size(); ++id)
    if (is_sound_[id]) digest ^= format::node_digest(id, nodes_[id]);
  if (digest != header.digest) return damaged(path, "its checksum is wrong");
  return {};
}

}  // namespace gnomon::reader
