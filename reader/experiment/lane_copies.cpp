// Copies of the blocks that are still in an experiment's lanes. Any thread.
#include "reader/experiment/lane_copies.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "libcollector/format/names.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

using format::BlockHeader;
using format::kBlockBytes;

std::span<std::byte> bytes_of(Block& block) { return std::as_writable_bytes(std::span(block)); }

}  // namespace

bool is_of(const BlockHeader& header, const Experiment& experiment) {
  return header.magic == format::kBlockMagic && header.major == format::kFormatMajor &&
         header.session == experiment.header.session;
}

Result<LaneCopies> LaneCopies::read(const Experiment& experiment) {
  constexpr int kAttempts = 8;
  LaneCopies copies;
  const std::string path = experiment.directory + "/" + format::kLanesFile;
  const auto& blocks = experiment.control.blocks;
  const bool is_begun =
      std::any_of(std::begin(blocks), std::end(blocks), [](std::uint32_t n) { return n != 0; });
  copies.empty_ = experiment.control.lanes;
  if (!is_begun) return copies;
  const auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  const std::uint64_t lanes =
      std::min<std::uint64_t>(file->size() / kBlockBytes, format::kMaxLanes);
  Copies both;
  for (std::uint64_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t at = lane * kBlockBytes;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      for (Block* block : {&both.first, &both.second})
        if (auto read = file->read(at, bytes_of(*block)); !read)
          return tl::unexpected(read.error());
      const BlockHeader &first = header_of(both.first), &second = header_of(both.second);
      BlockHeader now{};
      if (auto read = file->read(at, std::as_writable_bytes(std::span(&now, 1))); !read)
        return tl::unexpected(read.error());
      if (first.magic == 0) break;  // its block, if it had one, is in the data file
      if (first.number != second.number || first.number != now.number || now.magic == 0) continue;
      if (!is_of(first, experiment) || first.kind >= format::kDataKinds)
        return fault(path + " is damaged: lane " + std::to_string(lane) + " has a wrong header",
                     "record again");
      copies.blocks_.insert_or_assign({first.kind, first.number}, both);
      break;
    }
  }
  const std::size_t known = experiment.control.lanes;
  copies.empty_ = known - std::min(known, copies.blocks_.size());
  return copies;
}

const LaneCopies::Copies* LaneCopies::find(std::uint16_t kind, std::uint32_t number) const {
  const auto at = blocks_.find({kind, number});
  return at == blocks_.end() ? nullptr : &at->second;
}

}  // namespace gnomon::reader
