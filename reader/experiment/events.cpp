// Events of an experiment, summed per call stack: each event is touched once. Any thread.
#include "reader/experiment/events.h"

#include <atomic>
#include <cstring>
#include <string>

#include "libcollector/format/block.h"
#include "libcollector/format/stacks.h"
#include "reader/io/mapped_file.h"

namespace gnomon::reader {
namespace {

using format::BlockHeader;
using format::kBlockBytes;
using format::RecordWord;

std::uint32_t load(const std::byte* at) {
  return std::atomic_ref<const std::uint32_t>(*reinterpret_cast<const std::uint32_t*>(at))
      .load(std::memory_order_acquire);
}

class ProfileSum {
 public:
  explicit ProfileSum(const Experiment& experiment)
      : experiment_(experiment), path_(experiment.directory + "/profile") {}

  Result<ClockSums> run() {
    auto file = MappedFile::open(path_);
    if (!file) {
      if (experiment_.control.blocks[0] == 0) return ClockSums{};  // no sample yet
      return tl::unexpected(file.error());
    }
    const auto bytes = file->bytes();
    if (auto whole = check_length(bytes.size()); !whole) return tl::unexpected(whole.error());
    for (std::size_t at = 0; at + kBlockBytes <= bytes.size(); at += kBlockBytes)
      if (auto read = block(bytes.data() + at, at / kBlockBytes); !read)
        return tl::unexpected(read.error());
    return std::move(sums_);
  }

 private:
  tl::unexpected<Fault> damaged(std::size_t block, const std::string& how) const {
    return fault(path_ + " is damaged: block " + std::to_string(block) + " " + how, "record again");
  }

  // While a program writes, each of its lanes may have claimed a block that is not in the file yet.
  Result<void> check_length(std::size_t bytes) const {
    constexpr std::uint64_t kLanes = 128;
    const bool ended = experiment_.state() == format::State::ended;
    const std::uint64_t claimed = experiment_.control.blocks[0];
    if (bytes / kBlockBytes + (ended ? 0 : kLanes) < claimed)
      return fault(path_ + " is damaged: " + std::to_string(claimed) + " blocks were written, " +
                       std::to_string(bytes / kBlockBytes) + " are there",
                   "record again");
    return {};
  }

  Result<void> block(const std::byte* at, std::size_t number) {
    BlockHeader header{};
    std::memcpy(&header, at, sizeof header);
    header.magic = load(at);
    if (header.magic == 0 && experiment_.state() != format::State::ended) return {};  // not begun
    if (header.magic != format::kBlockMagic || header.major != format::kFormatMajor ||
        header.kind != 0 || header.index != number || header.session != experiment_.header.session)
      return damaged(number, "has a wrong header");
    const std::byte* count_at = at + offsetof(BlockHeader, count);
    const std::uint32_t before = load(count_at);
    std::uint32_t found = 0;
    for (std::size_t used = sizeof header; used + 8 <= kBlockBytes;) {
      const std::uint32_t word = load(at + used);
      if (word == 0) break;
      const std::size_t size = size_of(word);
      if (size < 8 || used + size > kBlockBytes) return damaged(number, "has a wrong record size");
      if (!record(at + used, word, size)) return damaged(number, "has a wrong checksum");
      used += size;
      ++found;
    }
    // One record may be published and not counted yet.
    if (found < before || found > load(count_at) + 1)
      return damaged(
          number, "says " + std::to_string(before) + " records and holds " + std::to_string(found));
    return {};
  }

  static std::size_t size_of(std::uint32_t word) {
    RecordWord fields{};
    std::memcpy(&fields, &word, sizeof fields);
    return std::size_t{fields.size8} * 8;
  }

  bool record(const std::byte* at, std::uint32_t word, std::size_t size) {
    RecordWord fields{};
    std::memcpy(&fields, &word, sizeof fields);
    if (format::record_check(reinterpret_cast<const std::uint32_t*>(at), size) != fields.check)
      return false;
    if (fields.kind != format::kClockSample) return true;  // of a newer minor format
    if (size != sizeof(format::ClockSample)) return false;
    format::ClockSample sample{};
    std::memcpy(&sample, at, sizeof sample);
    if (sample.stack > kMaxStack) return false;
    if (sample.stack >= sums_.by_stack.size())
      sums_.by_stack.resize(std::max<std::size_t>(sample.stack + 1, sums_.by_stack.size() * 2));
    for (StackSum* sum : {&sums_.by_stack[sample.stack], &sums_.total}) {
      sum->time += {sample.weight};
      ++sum->samples;
    }
    return true;
  }

  static constexpr std::uint32_t kMaxStack = 1u << 28;  // what the stack table can hold
  const Experiment& experiment_;
  const std::string path_;
  ClockSums sums_;
};

}  // namespace

Result<ClockSums> sum_clock_samples(const Experiment& experiment) {
  return ProfileSum(experiment).run();
}

}  // namespace gnomon::reader
