// Call stacks of an experiment: the tree the collector interned them in. Any thread.
#include "reader/experiment/stacks.h"

#include <atomic>
#include <cstring>
#include <string>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"

namespace gnomon::reader {

namespace {

tl::unexpected<Fault> damaged(const std::string& path, const std::string& how) {
  return fault(path + " is damaged: " + how, "record again");
}

// The heads of all chains at one moment. The file holds every node they lead to from then on.
Result<std::vector<std::uint32_t>> read_heads(const std::string& path, std::uint64_t session) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto bytes = file->bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(path, "it is too short");
  format::StackHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != format::kStackMagic || header.major != format::kFormatMajor ||
      header.session != session || header.buckets != format::kStackBuckets)
    return damaged(path, "its header is wrong");
  const auto* from =
      reinterpret_cast<const std::uint32_t*>(bytes.data() + format::kStackBucketsOffset);
  std::vector<std::uint32_t> heads(format::kStackBuckets);
  for (std::uint32_t i = 0; i < format::kStackBuckets; ++i)
    heads[i] = std::atomic_ref<const std::uint32_t>(from[i]).load(std::memory_order_acquire);
  return heads;
}

}  // namespace

Result<Stacks> Stacks::open(const Experiment& experiment) {
  const std::string path = experiment.directory + "/" + format::kStacksFile;
  auto heads = read_heads(path, experiment.header.session);
  if (!heads) return tl::unexpected(heads.error());
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  Stacks stacks;
  stacks.file_ = std::move(*file);
  if (auto sound = stacks.follow(*heads, path); !sound) return tl::unexpected(sound.error());
  return stacks;
}

// A node counts only where its bucket's chain leads to it: one that does not belong there is
// damage.
Result<void> Stacks::follow(const std::vector<std::uint32_t>& heads, const std::string& path) {
  const auto bytes = file_.bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(path, "it is too short");
  nodes_ = {reinterpret_cast<const format::StackNode*>(bytes.data() + format::kStackNodesOffset),
            (bytes.size() - format::kStackNodesOffset) / sizeof(format::StackNode)};
  sound_.resize(nodes_.size());
  for (std::uint32_t bucket = 0; bucket < heads.size(); ++bucket) {
    for (std::uint32_t id = heads[bucket]; id != 0;) {
      if (id >= nodes_.size()) return damaged(path, "its end is missing");
      const format::StackNode& node = nodes_[id];
      if (sound_[id] || node.parent >= id || format::stack_bucket(node.parent, node.pc) != bucket)
        return damaged(path, "call stack " + std::to_string(id) + " does not fit its place");
      sound_[id] = true;
      id = node.next;
    }
  }
  return {};
}

}  // namespace gnomon::reader
