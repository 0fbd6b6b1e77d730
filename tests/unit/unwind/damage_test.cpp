// Frame tables: the program's own answers, then damaged copies of them, which must neither crash
// nor loop.
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "libcollector/unwind/rule_maker.h"
#include "tests/unwind/loaded_tables.h"

using namespace gnomon::collector;

namespace {

FrameTable own_table() {
  FrameTable table;
  EXPECT_TRUE(gnomon::tests::find_loaded_table(reinterpret_cast<std::uint64_t>(own_table), table));
  return table;
}

std::vector<std::uint64_t> own_code() {
  std::vector<std::uint64_t> pcs;
  const auto begin = reinterpret_cast<std::uint64_t>(own_table);
  for (std::uint64_t pc = begin; pc < begin + 4096; pc += 7) pcs.push_back(pc);
  return pcs;
}

TEST(FrameTable, KnowsItsOwnFunctions) {
  const FrameTable table = own_table();
  const auto pc = reinterpret_cast<std::uint64_t>(own_table);
  const PackedRule rule = make_rule(table, pc);
  EXPECT_EQ(kind_of(rule), RuleKind::from_sp);
  EXPECT_EQ(offset_of(rule), 8);
  EXPECT_EQ(kind_of(make_rule(table, 0x10)), RuleKind::none);
  EXPECT_EQ(kind_of(make_rule(table, ~0ull)), RuleKind::none);
}

TEST(FrameTable, EndsWithItsSegment) {
  const FrameTable whole = own_table();
  for (std::uint64_t size = 0; size < 4096; size += 5) {
    FrameTable cut = whole;
    cut.segment_count = 0;
    cut.add({whole.segment_of(whole.header).begin, whole.header + size});
    make_rule(cut, reinterpret_cast<std::uint64_t>(own_table));
  }
}

TEST(FrameTable, DamageIsSurvived) {
  const FrameTable table = own_table();
  const ByteRange segment = table.segment_of(table.header);
  const std::size_t size = segment.end - segment.begin;
  // Through the kernel: between our own constants lie bytes that a sanitizer guards.
  std::vector<unsigned char> original(size);
  const iovec to{original.data(), size};
  const iovec from_here{reinterpret_cast<void*>(segment.begin), size};
  ASSERT_EQ(process_vm_readv(getpid(), &to, 1, &from_here, 1, 0), static_cast<ssize_t>(size));
  std::mt19937_64 random(11);
  const std::vector<std::uint64_t> pcs = own_code();
  std::size_t answered = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<unsigned char> copy = original;
    const std::size_t from = table.header - segment.begin;
    for (std::size_t i = 0; i < size / 64; ++i)
      copy[from + random() % (size - from)] = static_cast<unsigned char>(random());
    const std::uint64_t delta = reinterpret_cast<std::uint64_t>(copy.data()) - segment.begin;
    FrameTable damaged;
    damaged.header = table.header + delta;
    damaged.add({segment.begin + delta, segment.end + delta});
    FrameTable listed = damaged;  // as of an object without .eh_frame_hdr
    listed.header = 0;
    listed.frames = {damaged.header, segment.end + delta};
    for (const std::uint64_t pc : pcs) {
      answered += kind_of(make_rule(damaged, pc + delta)) >= RuleKind::from_sp;
      gnomon::collector::Row row;
      find_row(damaged, pc + delta, kRbx, row);
      if (pc % 16 == 0) make_rule(listed, pc + delta);
    }
  }
  EXPECT_GT(answered, 0u) << "the copies were not read at all";
}

}  // namespace
