// Call stacks of an experiment: the tree the collector interned them in. Any thread.
#include "reader/experiment/stacks.h"

#include <filesystem>
#include <string>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "reader/io/load.h"

namespace gnomon::reader {
namespace {

tl::unexpected<Fault> damaged(const std::string& path, const std::string& how) {
  return fault(path + " is damaged: " + how, "record again");
}

struct Header {
  bool closed;
  std::uint64_t digest;  // of all nodes, once closed
};

Result<Header> read_header(const std::string& path, std::uint64_t session) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto bytes = file->bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(path, "it is too short");
  const auto& header = *reinterpret_cast<const format::StackHeader*>(bytes.data());
  if (load(header.magic) != format::kStackMagic || header.major != format::kFormatMajor ||
      header.session != session || header.buckets != format::kStackBuckets)
    return damaged(path, "its header is wrong");
  const bool closed = load(header.closed) != 0;
  return Header{closed, load(header.digest)};
}

// A node's way from its bucket: the number of links, and their numbers as stack_place has them.
struct Way {
  std::uint32_t bucket, length;
  std::uint64_t links;

  static constexpr std::uint32_t kLongest = 31;
  bool leads_to(const format::StackNode& node) const {
    const format::StackPlace place = format::stack_place(node.parent, node.pc);
    return place.bucket == bucket && (length == 0 || place.bits >> (64 - 2 * length) == links);
  }
  Way by(std::uint32_t link) const { return {bucket, length + 1, links << 2 | link}; }
};

}  // namespace

Result<Stacks> Stacks::open(const Experiment& experiment, const Interrupt& interrupt) {
  Stacks stacks;
  stacks.path_ = experiment.directory + "/" + format::kStacksFile;
  // A closed file is mapped after it was seen to be closed: as long as it will ever be.
  const auto header = read_header(stacks.path_, experiment.header.session);
  if (!header) return tl::unexpected(header.error());
  stacks.closed_ = header->closed;
  if (experiment.closed && !stacks.closed_) return damaged(stacks.path_, "it is not closed");
  auto file = MappedFile::open(stacks.path_);
  if (!file) return tl::unexpected(file.error());
  stacks.file_ = std::move(*file);
  const auto bytes = stacks.file_.bytes();
  if (bytes.size() < format::kStackNodesOffset) return damaged(stacks.path_, "it is too short");
  stacks.nodes_ = {
      reinterpret_cast<const format::StackNode*>(bytes.data() + format::kStackNodesOffset),
      (bytes.size() - format::kStackNodesOffset) / sizeof(format::StackNode)};
  stacks.sound_.resize(stacks.nodes_.size());
  const auto digest = stacks.follow_buckets(interrupt);
  if (!digest) return tl::unexpected(digest.error());
  if (stacks.closed_ && *digest != header->digest)
    return damaged(stacks.path_, "its checksum is wrong");
  return stacks;
}

// The digest of all nodes that count.
Result<std::uint64_t> Stacks::follow_buckets(const Interrupt& interrupt) {
  constexpr std::uint32_t kAsk = 1024;
  const auto* buckets =
      reinterpret_cast<const std::uint32_t*>(file_.bytes().data() + format::kStackBucketsOffset);
  std::uint64_t digest = 0;
  for (std::uint32_t bucket = 0; bucket < format::kStackBuckets; ++bucket) {
    if (bucket % kAsk == 0 && interrupt.asked()) return interrupted();
    auto of_bucket = follow(bucket, load(buckets[bucket]));
    if (!of_bucket) return of_bucket;
    digest ^= *of_bucket;
  }
  return digest;
}

// A node counts only where the links from its bucket lead to it: one that does not belong there is
// damage.
Result<std::uint64_t> Stacks::follow(std::uint32_t bucket, std::uint32_t first) {
  std::vector<std::pair<std::uint32_t, Way>> ahead;
  if (first != 0) ahead.push_back({first, {bucket, 0, 0}});
  std::uint64_t digest = 0;
  while (!ahead.empty()) {
    const auto [id, way] = ahead.back();
    ahead.pop_back();
    if (id >= nodes_.size()) {
      if (!is_newer(id)) return damaged(path_, "its end is missing");
      continue;
    }
    const format::StackNode& node = nodes_[id];
    const std::uint64_t own = format::node_digest(id, node);
    if (sound_[id] || node.parent >= id || way.length > Way::kLongest || !way.leads_to(node) ||
        node.check != format::node_check(own))
      return damaged(path_, "call stack " + std::to_string(id) + " does not fit its place");
    sound_[id] = true;
    digest ^= own;
    for (std::uint32_t link = 0; link < std::size(node.links); ++link)
      if (const std::uint32_t next = load(node.links[link])) ahead.push_back({next, way.by(link)});
  }
  return digest;
}

// A writer has added it since the file was mapped.
bool Stacks::is_newer(std::uint32_t id) const {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path_, none);
  return !closed_ && !none &&
         bytes >= format::kStackNodesOffset + (id + std::uint64_t{1}) * sizeof(format::StackNode);
}

}  // namespace gnomon::reader
