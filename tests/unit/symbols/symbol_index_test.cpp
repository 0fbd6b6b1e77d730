// The symbol index: aliases, gaps, sizes, names.
#include "reader/symbols/elf/symbol_index.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include "reader/symbols/elf/function_starts.h"

using namespace gnomon::reader;

namespace {

// What an address is in, in words.
std::string name(const SymbolIndex& index, std::uint64_t at) {
  const auto place = index.find(at);
  return place.in_symbol ? index.symbol(place.number).name
                         : "gap " + std::to_string(place.gap_begin);
}

TEST(SymbolIndex, LastAliasAndGaps) {
  const SymbolIndex index({{0x10, 0x20, "__write"},
                           {0x10, 0x20, "write"},
                           {0x10, 0x18, "__libc_write"},
                           {0x30, 0x30, "assembly"},
                           {0x40, 0x60, "overlaps"},
                           {0x58, 0x68, "next"}});
  EXPECT_EQ(index.size(), 4u);
  EXPECT_EQ(name(index, 0x0f), "gap 0");
  EXPECT_EQ(name(index, 0x1f), "write");
  EXPECT_EQ(index.symbol(0).aliases, (std::vector<std::string>{"__write", "__libc_write"}));
  EXPECT_EQ(name(index, 0x20), "gap 32");
  EXPECT_EQ(name(index, 0x3f), "assembly");
  EXPECT_EQ(name(index, 0x57), "overlaps");
  EXPECT_EQ(name(index, 0x58), "next");
  EXPECT_EQ(name(index, 0x68), "gap 104");
}

TEST(SymbolIndex, AFunctionGoesOnBehindOneInside) {
  const SymbolIndex index({{0x00, 0x100, "outer"},
                           {0x40, 0x50, "inner"},
                           {0x44, 0x48, "innermost"},
                           {0x60, 0x60, "entry"},
                           {0x70, 0x70, "loop", SymbolKind::label}});
  EXPECT_EQ(name(index, 0x3f), "outer");
  EXPECT_EQ(name(index, 0x43), "inner");
  EXPECT_EQ(name(index, 0x47), "innermost");
  EXPECT_EQ(name(index, 0x48), "inner");
  EXPECT_EQ(name(index, 0x50), "outer");
  EXPECT_EQ(name(index, 0x60), "outer");
  EXPECT_EQ(name(index, 0xff), "outer");
  EXPECT_EQ(name(index, 0x100), "gap 256");
}

TEST(SymbolIndex, SymbolsWithoutASize) {
  const SymbolIndex index({{0x10, 0x10, "routine", SymbolKind::label},
                           {0x14, 0x14, "routine.loop", SymbolKind::label},
                           {0x20, 0x20, "other", SymbolKind::label},
                           {0x20, 0x20, "a"},
                           {0x80, 0x80, "last"}},
                          {{0x30, 0x40}, {0x70, 0x90}});
  EXPECT_EQ(name(index, 0x14), "routine");
  EXPECT_EQ(name(index, 0x20), "a") << "a function's name, not a label";
  EXPECT_EQ(name(index, 0x30), "gap 48") << "a stripped function begins here";
  EXPECT_EQ(name(index, 0x8f), "last");
  EXPECT_EQ(name(index, 0x90), "gap 144") << "the section has ended";
}

TEST(SymbolIndex, FunctionsWithoutSymbolsAreToldApart) {
  const SymbolIndex index({{0x10, 0x20, "known"}, {0x50, 0x60, "next"}},
                          {{0x08, 0x10, 0x30, 0x40}, {}});
  EXPECT_EQ(index.find(0x09).gap_begin, 0x08u);
  EXPECT_EQ(index.find(0x28).gap_begin, 0x20u);
  EXPECT_EQ(index.find(0x3f).gap_begin, 0x30u);
  EXPECT_EQ(index.find(0x40).gap_begin, 0x40u);
  EXPECT_EQ(index.find(0x60).gap_begin, 0x60u);
}

TEST(SymbolIndex, Vdso) {
  const auto index = SymbolIndex::load_vdso("");
  ASSERT_TRUE(index) << index.error().what;
  const auto* image = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  void* vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(vdso, nullptr);
  const auto* code = static_cast<const char*>(dlsym(vdso, "__vdso_clock_gettime"));
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(name(*index, static_cast<std::uint64_t>(code - image)), "clock_gettime");
  EXPECT_FALSE(SymbolIndex::load_vdso("00"));
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
  const auto index = SymbolIndex::load({"/proc/self/exe"}, {});
  ASSERT_TRUE(index) << index.error().what;
  EXPECT_GT(index->size(), 100u);
}

TEST(SymbolIndex, ChangedFileIsRefused) {
  EXPECT_FALSE(SymbolIndex::load({"/proc/self/exe"}, {"00"}));
  EXPECT_FALSE(SymbolIndex::load({"/etc/passwd"}, {}));
  EXPECT_FALSE(SymbolIndex::load({"/nowhere"}, {}));
}

}  // namespace
