// Call stacks of an experiment: the tree the collector interned them in. Any thread.
#include "reader/experiment/stacks.h"

#include <string>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/io/load.h"

namespace gnomon::reader {
namespace {

tl::unexpected<Fault> damaged(const std::string& path, const std::string& how) {
  return fault(path + " is damaged: " + how, "record again");
}

// The table at one moment. The file holds every node the chains lead to from then on.
struct Moment {
  std::vector<std::uint32_t> heads;
  bool closed = false;
  std::uint64_t digest = 0;  // of all nodes, once closed
};

Result<Moment> read_moment(const std::string& path, std::uint64_t session) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto bytes = file->bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(path, "it is too short");
  const auto& header = *reinterpret_cast<const format::StackHeader*>(bytes.data());
  if (load(header.magic) != format::kStackMagic || header.major != format::kFormatMajor ||
      header.session != session || header.buckets != format::kStackBuckets)
    return damaged(path, "its header is wrong");
  Moment moment;
  moment.closed = load(header.closed) != 0;
  moment.digest = load(header.digest);
  const auto* from =
      reinterpret_cast<const std::uint32_t*>(bytes.data() + format::kStackBucketsOffset);
  moment.heads.resize(format::kStackBuckets);
  for (std::uint32_t i = 0; i < format::kStackBuckets; ++i) moment.heads[i] = load(from[i]);
  return moment;
}

}  // namespace

Result<Stacks> Stacks::open(const Experiment& experiment, const Interrupt& interrupt) {
  const std::string path = experiment.directory + "/" + format::kStacksFile;
  auto moment = read_moment(path, experiment.header.session);
  if (!moment) return tl::unexpected(moment.error());
  if (experiment.closed && !moment->closed) return damaged(path, "it is not closed");
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  Stacks stacks;
  stacks.file_ = std::move(*file);
  const auto digest = stacks.follow(moment->heads, path, interrupt);
  if (!digest) return tl::unexpected(digest.error());
  if (moment->closed && *digest != moment->digest) return damaged(path, "its checksum is wrong");
  return stacks;
}

// A node counts only where its bucket's chain leads to it: one that does not belong there is
// damage. The digest of all that count.
Result<std::uint64_t> Stacks::follow(const std::vector<std::uint32_t>& heads,
                                     const std::string& path, const Interrupt& interrupt) {
  constexpr std::uint32_t kAsk = 1024;
  const auto bytes = file_.bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(path, "it is too short");
  nodes_ = {reinterpret_cast<const format::StackNode*>(bytes.data() + format::kStackNodesOffset),
            (bytes.size() - format::kStackNodesOffset) / sizeof(format::StackNode)};
  sound_.resize(nodes_.size());
  std::uint64_t digest = 0;
  for (std::uint32_t bucket = 0; bucket < heads.size(); ++bucket) {
    if (bucket % kAsk == 0 && interrupt.asked()) return interrupted();
    for (std::uint32_t id = heads[bucket]; id != 0;) {
      if (id >= nodes_.size()) return damaged(path, "its end is missing");
      const format::StackNode& node = nodes_[id];
      if (sound_[id] || node.parent >= id || format::stack_bucket(node.parent, node.pc) != bucket)
        return damaged(path, "call stack " + std::to_string(id) + " does not fit its place");
      sound_[id] = true;
      digest ^= format::node_digest(id, node);
      id = node.next;
    }
  }
  return digest;
}

}  // namespace gnomon::reader
