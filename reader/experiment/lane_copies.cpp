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

template <typename Bytes>
Result<std::size_t> read_into(const File& file, std::uint64_t at, Bytes& to) {
  return file.read(at, std::as_writable_bytes(std::span(&to, 1)));
}

enum class Look { taken, empty, changed };

// A block belongs to the lane for as long as the header says so: what is copied between two looks
// at the same header is of that block.
Result<Look> copy_lane(const File& file, std::uint64_t at, LaneCopies::Copy& copy) {
  BlockHeader before{}, after{};
  Block first;
  if (auto read = read_into(file, at, before); !read) return tl::unexpected(read.error());
  if (before.magic == 0) return Look::empty;
  for (Block* block : {&first, &copy.block})
    if (auto read = read_into(file, at, *block); !read) return tl::unexpected(read.error());
  if (auto read = read_into(file, at, after); !read) return tl::unexpected(read.error());
  if (after.magic != before.magic || after.number != before.number) return Look::changed;
  constexpr std::ptrdiff_t kHeaderWords = sizeof(BlockHeader) / sizeof first[0];
  // The header counts more and more records: the first copy's count holds for both.
  const auto differs =
      std::mismatch(first.begin() + kHeaderWords, first.end(), copy.block.begin() + kHeaderWords)
          .first;
  std::copy_n(first.begin(), kHeaderWords, copy.block.begin());
  copy.steady = static_cast<std::size_t>(differs - first.begin()) * sizeof first[0];
  return Look::taken;
}

}  // namespace

bool is_of(const BlockHeader& header, const Experiment& experiment) {
  return header.magic == format::kBlockMagic && header.major == format::kFormatMajor &&
         header.session == experiment.header.session &&
         header.begun == format::header_check(header);
}

Result<LaneCopies> LaneCopies::read(const Experiment& experiment) {
  constexpr int kAttempts = 8;
  LaneCopies copies;
  const std::string path = experiment.directory + "/" + format::kLanesFile;
  const auto& blocks = experiment.control.blocks;
  const bool is_begun =
      std::any_of(std::begin(blocks), std::end(blocks), [](std::uint32_t n) { return n != 0; });
  const std::size_t known = std::min(experiment.control.lanes, format::kMaxLanes);
  copies.empty_ = known;
  if (!is_begun) return copies;
  const auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  const std::uint64_t lanes =
      std::min<std::uint64_t>(file->size() / kBlockBytes, format::kMaxLanes);
  Copy copy{};
  for (std::uint64_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t at = lane * kBlockBytes;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto look = copy_lane(*file, at, copy);
      if (!look) return tl::unexpected(look.error());
      if (*look == Look::changed) continue;
      if (*look == Look::empty) break;  // its block, if it had one, is in the data file
      const BlockHeader& header = header_of(copy.block);
      if (is_of(header, experiment) && header.kind < format::kDataKinds &&
          header.bytes <= kBlockBytes &&
          !(experiment.is_still && header.number >= blocks[header.kind]))
        copies.blocks_.insert_or_assign({header.kind, header.number}, copy);
      else
        ++copies.damaged_;
      break;
    }
  }
  copies.empty_ = known - std::min(known, copies.blocks_.size());
  return copies;
}

const LaneCopies::Copy* LaneCopies::find(std::uint16_t kind, std::uint32_t number) const {
  const auto at = blocks_.find({kind, number});
  return at == blocks_.end() ? nullptr : &at->second;
}

std::vector<std::uint32_t> LaneCopies::numbers(std::uint16_t kind, std::uint32_t first) const {
  std::vector<std::uint32_t> found;
  for (auto at = blocks_.lower_bound({kind, first}); at != blocks_.end(); ++at) {
    if (at->first.first != kind) break;
    found.push_back(at->first.second);
  }
  return found;
}

}  // namespace gnomon::reader
