// Events of an experiment, summed per call stack: each event is touched once. Any thread.
#include "reader/experiment/events.h"

#include <cstring>
#include <filesystem>
#include <string>

#include "libcollector/format/block.h"
#include "libcollector/format/names.h"
#include "libcollector/format/stacks.h"
#include "reader/io/load.h"
#include "reader/io/mapped_file.h"

namespace gnomon::reader {
namespace {

using format::BlockHeader;
using format::kBlockBytes;
using format::RecordWord;

RecordWord fields_of(std::uint32_t word) {
  RecordWord fields{};
  std::memcpy(&fields, &word, sizeof fields);
  return fields;
}

class ProfileSum {
 public:
  ProfileSum(const Experiment& experiment, const Interrupt& interrupt)
      : experiment_(experiment),
        interrupt_(interrupt),
        path_(experiment.directory + "/" + std::string(kFile)) {}

  Result<ClockSums> run() {
    auto file = MappedFile::open(path_);
    if (!file) {
      if (mapped() == 0) return ClockSums{};  // no sample yet
      return tl::unexpected(file.error());
    }
    const auto bytes = file->bytes();
    const std::size_t blocks = bytes.size() / kBlockBytes;
    std::uint32_t begun = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      if (interrupt_.asked()) return interrupted();
      auto read = block(bytes.data() + i * kBlockBytes, i);
      if (!read) return tl::unexpected(read.error());
      if (*read) ++begun;
    }
    // A writer may have got its block's place and not begun it.
    const std::uint32_t beginning = experiment_.closed ? 0 : experiment_.control.lanes;
    if (blocks < mapped() || begun + beginning < mapped())
      return fault(path_ + " is damaged: " + std::to_string(mapped()) + " blocks were written, " +
                       std::to_string(begun) + " are there",
                   "record again");
    return std::move(sums_);
  }

 private:
  static constexpr auto kKind = format::DataKind::profile;
  static constexpr std::string_view kFile = format::kDataFiles[static_cast<std::size_t>(kKind)];

  std::uint32_t mapped() const {
    return experiment_.control.mapped[static_cast<std::size_t>(kKind)];
  }

  tl::unexpected<Fault> damaged(std::size_t block, const std::string& how) const {
    return fault(path_ + " is damaged: block " + std::to_string(block) + " " + how, "record again");
  }

  // False: the block is not begun.
  Result<bool> block(const std::byte* at, std::size_t number) {
    const auto& header = *reinterpret_cast<const BlockHeader*>(at);
    const std::uint32_t magic = load(header.magic);
    if (magic == 0) return false;
    if (magic != format::kBlockMagic || header.major != format::kFormatMajor ||
        header.kind != static_cast<std::uint16_t>(kKind) || header.index != number ||
        header.session != experiment_.header.session)
      return damaged(number, "has a wrong header");
    const std::uint32_t check = load(header.check);
    if (check == 0 && experiment_.closed) return damaged(number, "is not closed");
    const std::uint32_t before = load(header.count);
    std::uint32_t found = 0;
    std::uint64_t chain = 0;
    for (std::size_t used = sizeof header; used + 8 <= kBlockBytes; ++found) {
      const std::byte* record = at + used;
      const std::uint32_t word = load(*reinterpret_cast<const std::uint32_t*>(record));
      if (word == 0) break;
      const std::size_t size = std::size_t{fields_of(word).size8} * 8;
      if (size < 8 || used + size > kBlockBytes) return damaged(number, "has a wrong record size");
      if (!add(record, fields_of(word), size, chain))
        return damaged(number, "has a wrong record " + std::to_string(found));
      used += size;
    }
    if (check != 0 && check != format::block_check(chain, found))
      return damaged(number, "has a wrong checksum");
    // In an open block one record may be published and not counted yet.
    const std::uint32_t most = load(header.count) + (check == 0 ? 1 : 0);
    if (found < before || found > most)
      return damaged(
          number, "says " + std::to_string(before) + " records and holds " + std::to_string(found));
    return true;
  }

  bool add(const std::byte* at, RecordWord word, std::size_t size, std::uint64_t& chain) {
    const std::uint64_t digest =
        format::record_digest(word.kind, reinterpret_cast<const std::uint32_t*>(at), size);
    if (format::record_check(digest) != word.check) return false;
    chain = format::digest_step(chain, digest);
    if (word.kind != format::kClockSample) return true;  // of a newer minor format
    if (size != sizeof(format::ClockSample)) return false;
    format::ClockSample sample{};
    std::memcpy(&sample, at, sizeof sample);
    if (!is_stack(sample.stack)) return false;
    if (sample.stack >= sums_.by_stack.size())
      sums_.by_stack.resize(std::max<std::size_t>(sample.stack + 1, sums_.by_stack.size() * 2));
    for (StackSum* sum : {&sums_.by_stack[sample.stack], &sums_.total}) {
      sum->time += {sample.weight};
      ++sum->samples;
    }
    return true;
  }

  // The table has room for a stack before an event names it, so what is beyond its end is damage.
  bool is_stack(std::uint32_t id) {
    if (id < stacks_) return true;
    std::error_code none;
    const auto bytes =
        std::filesystem::file_size(experiment_.directory + "/" + format::kStacksFile, none);
    if (!none && bytes > format::kStackNodesOffset)
      stacks_ = (bytes - format::kStackNodesOffset) / sizeof(format::StackNode);
    return id < stacks_;
  }

  const Experiment& experiment_;
  const Interrupt& interrupt_;
  const std::string path_;
  std::uint64_t stacks_ = 0;
  ClockSums sums_;
};

}  // namespace

Result<ClockSums> sum_clock_samples(const Experiment& experiment, const Interrupt& interrupt) {
  return ProfileSum(experiment, interrupt).run();
}

Result<Recording> open_recording(const std::string& directory, const Interrupt& interrupt) {
  auto experiment = open_experiment(directory);
  if (!experiment) return tl::unexpected(experiment.error());
  auto events = sum_clock_samples(*experiment, interrupt);
  if (!events) return tl::unexpected(events.error());
  return Recording{std::move(*experiment), std::move(*events)};
}

}  // namespace gnomon::reader
