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

}  // namespace

bool StackRoom::has(std::uint64_t id) {
  if (id < room_) return true;
  std::error_code none;
  const auto bytes = std::filesystem::file_size(directory_ + "/" + format::kStacksFile, none);
  if (!none && bytes > place_of(0)) room_ = (bytes - place_of(0)) / sizeof(StackNode);
  return id < room_;
}

// A node's links are the writers' business: what a node is, its own checksum says.
bool Stacks::is_node(std::uint32_t id) const {
  const StackNode& node = nodes_[id];
  return node.parent < id && node.check == format::node_check(format::node_digest(id, node));
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
  const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(header.nodes, room));

  const std::uint32_t begin = size();
  if (end > begin) {
    nodes_.resize(end);
    is_sound_.resize(end);
    const auto fresh = std::span(nodes_).subspan(begin);
    if (const auto read = file->read(place_of(begin), std::as_writable_bytes(fresh)); !read)
      return tl::unexpected(read.error());
    for (std::uint32_t id = begin; id < end; ++id) missing_.push_back(id);
  }
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t id : missing_) {
    if (interrupt.asked(id + 1)) return interrupted();
    if (id == 0) continue;
    if (id < begin)
      if (auto read = file->read(place_of(id), std::as_writable_bytes(std::span(&nodes_[id], 1)));
          !read)
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
