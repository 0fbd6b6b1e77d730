// The symbol index: aliases, gaps, sizes, names.
#include "reader/symbols/symbol_index.h"

#include <gtest/gtest.h>

#include "reader/symbols/function_starts.h"

using namespace gnomon::reader;

namespace {

TEST(SymbolIndex, PlainestAliasAndGaps) {
  const SymbolIndex index({{0x10, 0x20, "__write"},
                           {0x10, 0x20, "write"},
                           {0x10, 0x18, "__libc_write"},
                           {0x30, 0x30, "assembly"},
                           {0x40, 0x60, "overlaps"},
                           {0x50, 0x58, "next"}});
  EXPECT_EQ(index.size(), 4u);
  const auto name = [&](std::uint64_t at) {
    const auto place = index.find(at);
    return place.in_symbol ? index.symbol(place.number).name
                           : "gap " + std::to_string(place.gap_begin);
  };
  EXPECT_EQ(name(0x0f), "gap 0");
  EXPECT_EQ(name(0x1f), "write");
  EXPECT_EQ(name(0x20), "gap 32");
  EXPECT_EQ(name(0x3f), "assembly");
  EXPECT_EQ(name(0x4f), "overlaps");
  EXPECT_EQ(name(0x50), "next");
  EXPECT_EQ(name(0x58), "gap 88");
}

TEST(SymbolIndex, FunctionsWithoutSymbolsAreToldApart) {
  const SymbolIndex index({{0x10, 0x20, "known"}, {0x50, 0x60, "next"}}, {0x08, 0x10, 0x30, 0x40});
  EXPECT_EQ(index.find(0x09).gap_begin, 0x08u);
  EXPECT_EQ(index.find(0x28).gap_begin, 0x20u);
  EXPECT_EQ(index.find(0x3f).gap_begin, 0x30u);
  EXPECT_EQ(index.find(0x40).gap_begin, 0x40u);
  EXPECT_EQ(index.find(0x60).gap_begin, 0x60u);
}

TEST(FunctionStarts, DamagedTablesAreCutNotFollowed) {
  const std::uint32_t table[] = {0x3b031b01, 0, 1000, 0xffffff00, 0, 0x10, 0, 0x20};
  const auto starts = function_starts(table, sizeof table, 0x1000);
  EXPECT_EQ(starts, (std::vector<std::uint64_t>{0xf00, 0x1010}));
  EXPECT_TRUE(function_starts(table, 11, 0x1000).empty());
  const std::uint32_t other[] = {0x3b03ff01, 0, 1, 0, 0};
  EXPECT_TRUE(function_starts(other, sizeof other, 0).empty());
}

TEST(SymbolIndex, OwnSymbols) {
  const auto index = SymbolIndex::load("/proc/self/exe", "");
  ASSERT_TRUE(index) << index.error().what;
  EXPECT_GT(index->size(), 100u);
}

TEST(SymbolIndex, ChangedFileIsRefused) {
  EXPECT_FALSE(SymbolIndex::load("/proc/self/exe", "00"));
  EXPECT_FALSE(SymbolIndex::load("/etc/passwd", ""));
  EXPECT_FALSE(SymbolIndex::load("/nowhere", ""));
}

}  // namespace
