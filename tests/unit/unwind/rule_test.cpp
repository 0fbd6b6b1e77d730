// Unwind rules: every form survives packing, what does not fit is evaluated; the cache is exact.
#include "libcollector/unwind/rule.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "libcollector/unwind/rule_cache.h"

using namespace gnomon::collector;

namespace {

TEST(Rule, OffsetsOfTheStackAndFramePointer) {
  for (const RuleKind kind : {RuleKind::from_sp, RuleKind::from_fp})
    for (const std::int64_t offset : {8l, 16l, 4096l, 262136l, -8l, -262144l}) {
      const PackedRule rule = pack({kind, 0, offset, 0, 7});
      EXPECT_EQ(kind_of(rule), kind) << offset;
      EXPECT_EQ(offset_of(rule), offset);
      EXPECT_EQ(fp_of(rule), 7u);
    }
}

TEST(Rule, RegistersAndBrackets) {
  const PackedRule by_register = pack({RuleKind::from_register, kRbx, -16, 0, kFpAtFp});
  EXPECT_EQ(kind_of(by_register), RuleKind::from_register);
  EXPECT_EQ(register_of(by_register), kRbx);
  EXPECT_EQ(short_offset_of(by_register), -16);
  EXPECT_EQ(fp_of(by_register), kFpAtFp);
  const PackedRule deref = pack({RuleKind::deref_fp, kRbp, -8, -24, kFpLost});
  EXPECT_EQ(kind_of(deref), RuleKind::deref_fp);
  EXPECT_EQ(short_offset_of(deref), -8);
  EXPECT_EQ(addend_of(deref), -24);
  EXPECT_EQ(fp_of(deref), kFpLost);
}

TEST(Rule, WhatDoesNotFitIsEvaluated) {
  const auto kind = [](const Rule& rule) { return kind_of(pack(rule)); };
  EXPECT_EQ(kind({RuleKind::from_sp, 0, 262144, 0, 0}), RuleKind::evaluated);
  EXPECT_EQ(kind({RuleKind::from_sp, 0, 12, 0, 0}), RuleKind::evaluated);
  EXPECT_EQ(kind({RuleKind::from_register, 16, 8, 0, 0}), RuleKind::evaluated);
  EXPECT_EQ(kind({RuleKind::from_register, kRbx, 16384, 0, 0}), RuleKind::evaluated);
  EXPECT_EQ(kind({RuleKind::deref_sp, kRsp, 8, 64, 0}), RuleKind::evaluated);
  EXPECT_NE(pack({RuleKind::none}), 0u) << "a free slot must not read as a rule";
}

TEST(RuleCache, AnswersOnlyForThePcItWasTold) {
  std::vector<std::uint64_t> slots(RuleCache::kBytes / sizeof(std::uint64_t));
  RuleCache cache;
  cache.open(slots.data());
  std::mt19937_64 random(7);
  const auto rule_of = [](std::uint64_t pc) {
    return pack({RuleKind::from_sp, 0, static_cast<std::int64_t>(pc % 4096) * 8, 0, 0});
  };
  std::vector<std::uint64_t> told;
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t pc = random() >> (i % 2 == 0 ? 17 : 44);
    if (cache.find(pc) == 0) cache.put(pc, rule_of(pc));
    told.push_back(pc);
  }
  std::size_t kept = 0;
  for (const std::uint64_t pc : told) {
    const PackedRule found = cache.find(pc);
    kept += found != 0;
    ASSERT_TRUE(found == 0 || found == rule_of(pc)) << pc;
  }
  EXPECT_GT(kept, told.size() / 4);
  EXPECT_EQ(cache.find(0x7f0123456789), 0u);
}

}  // namespace
