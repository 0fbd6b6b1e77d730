// The symbol index: aliases, gaps, sizes, names.
#include "reader/symbols/symbol_index.h"

#include <gtest/gtest.h>

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

TEST(SymbolIndex, Names) {
  EXPECT_EQ(display_name("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(display_name("clock_gettime@@GLIBC_2.17"), "clock_gettime");
  EXPECT_EQ(display_name("@plt"), "@plt");
  EXPECT_EQ(display_name("_Znonsense"), "_Znonsense");
}

}  // namespace
