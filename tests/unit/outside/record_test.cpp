// Records of the kernel's rings, as perf_event_open(2) lays them out, whole and cut short.
#include "libcollector/outside/record.h"

#include <gtest/gtest.h>

#include "libcollector/unwind/registers.h"
#include "tests/unit/outside/record_bytes.h"

namespace gnomon::outside {
namespace {

using Bytes = test::RecordBytes;

// Register i of the kernel's mask has the value 100 + i; 4 of 8 words of the stack are valid.
Bytes sample_of(std::uint64_t event) {
  Bytes bytes(PERF_RECORD_SAMPLE);
  bytes.add(event).add(std::uint32_t{7}).add(std::uint32_t{8}).add(std::uint64_t{5000});
  bytes.add(std::uint64_t{0x7f00})
      .add(std::uint32_t{1})
      .add(std::uint32_t{0})
      .add(std::uint64_t{3});
  bytes.numbers({static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL), ~0xfull, ~0xffull});
  bytes.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (std::uint64_t i = 0; i < 17; ++i) bytes.add(100 + i);
  bytes.add(std::uint64_t{64});
  for (std::uint64_t i = 0; i < 8; ++i) bytes.add(200 + i);
  return bytes.add(std::uint64_t{32});
}

TEST(RingRecord, Sample) {
  Bytes bytes = sample_of(11);
  Sample sample;
  ASSERT_TRUE(decode(bytes.record(), sample));
  EXPECT_EQ(sample.origin.event, 11u);
  EXPECT_EQ(sample.origin.process, 7u);
  EXPECT_EQ(sample.origin.thread, 8u);
  EXPECT_EQ(sample.origin.cpu, 1u);
  EXPECT_EQ(sample.address, 0x7f00u);
  EXPECT_EQ(time_of(bytes.record()), 5000u);
  ASSERT_EQ(sample.kernel.size(), 2u);
  EXPECT_EQ(sample.kernel[0], ~0xfull);
  EXPECT_EQ(sample.kernel[1], ~0xffull);
  EXPECT_TRUE(sample.has_registers);
  // asm/perf_regs.h: bp is 6, sp 7, ip 8; r8 is the ninth that was asked for.
  EXPECT_EQ(sample.registers[collector::kSavedRbp], 106u);
  EXPECT_EQ(sample.registers[collector::kSavedRsp], 107u);
  EXPECT_EQ(sample.registers[collector::kSavedRip], 108u);
  EXPECT_EQ(sample.registers[0], 109u);
  ASSERT_TRUE(sample.stack);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(sample.stack), 200u);
  EXPECT_EQ(sample.stack_bytes, 32u);
  EXPECT_TRUE(sample.stack_is_short);
}

TEST(RingRecord, SampleOfAThreadWithoutUserPart) {
  Bytes bytes(PERF_RECORD_SAMPLE);
  bytes.numbers({11, 0x800000007, 5000, 0, 1, 0, PERF_SAMPLE_REGS_ABI_NONE, 0});
  Sample sample;
  ASSERT_TRUE(decode(bytes.record(), sample));
  EXPECT_FALSE(sample.has_registers);
  EXPECT_TRUE(sample.kernel.empty());
  EXPECT_FALSE(sample.stack);
}

TEST(RingRecord, CutSamplesAreRefused) {
  Bytes bytes = sample_of(11);
  Sample sample;
  for (std::size_t less = 8; less + sizeof(perf_event_header) <= bytes.size(); less += 8)
    EXPECT_FALSE(decode(bytes.record(less), sample)) << less;
}

TEST(RingRecord, Mapping) {
  Bytes bytes(PERF_RECORD_MMAP2);
  bytes.numbers({0x800000007, 0x1000, 0x2000, 0x3000, 0x500000004, 6, 9, 0x200000005});
  char name[16] = "/lib/some.so";
  bytes.add(name).origin_behind(12, 6000);
  NewMapping mapping;
  ASSERT_TRUE(decode(bytes.record(), mapping));
  EXPECT_EQ(mapping.begin, 0x1000u);
  EXPECT_EQ(mapping.size, 0x2000u);
  EXPECT_EQ(mapping.offset, 0x3000u);
  EXPECT_EQ(mapping.inode, 6u);
  EXPECT_EQ(mapping.major, 4u);
  EXPECT_EQ(mapping.minor, 5u);
  EXPECT_EQ(mapping.file, "/lib/some.so");
  EXPECT_EQ(time_of(bytes.record()), 6000u);
  EXPECT_EQ(origin_of(bytes.record()).event, 12u);
  EXPECT_FALSE(decode(bytes.record(bytes.size() - 24), mapping));
}

TEST(RingRecord, NameOfAThread) {
  Bytes bytes(PERF_RECORD_COMM);
  char name[16] = "gnomon-files";
  bytes.add(std::uint32_t{7}).add(std::uint32_t{8}).add(name).origin_behind(12, 6000);
  EXPECT_EQ(name_in(bytes.record()), "gnomon-files");
  EXPECT_EQ(origin_of(bytes.record()).thread, 8u);
  EXPECT_EQ(name_in(bytes.record(bytes.size() - 16)), "");
  Bytes lost(PERF_RECORD_LOST);
  EXPECT_EQ(name_in(lost.numbers({1, 42}).origin_behind(12, 6000).record()), "");
}

TEST(RingRecord, OthersAreToldApart) {
  Bytes lost(PERF_RECORD_LOST);
  lost.numbers({1, 42}).origin_behind(12, 6000);
  EXPECT_EQ(lost_in(lost.record()), 42u);
  Bytes exec(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC), renamed(PERF_RECORD_COMM);
  EXPECT_TRUE(is_exec(exec.record()));
  EXPECT_FALSE(is_exec(renamed.record()));
  EXPECT_EQ(lost_in(exec.record()), 0u);
  Sample sample;
  EXPECT_FALSE(decode(lost.record(), sample));
}

}  // namespace
}  // namespace gnomon::outside
