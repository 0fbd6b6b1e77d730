// Names of the stubs that calls of other objects go through.
#include "reader/symbols/elf/plt.h"

#include <gtest/gtest.h>

using namespace gnomon::reader;

namespace {

using Stubs = std::vector<unsigned char>;

Stubs operator+(Stubs a, const Stubs& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// jmp *displacement(%rip), and what fills the stub.
Stubs jump(unsigned char displacement, std::size_t size) {
  Stubs code = {0xff, 0x25, displacement, 0, 0, 0};
  code.resize(size, 0x90);
  return code;
}

std::string listed(const std::vector<Symbol>& symbols) {
  std::string text;
  for (const Symbol& symbol : symbols)
    text +=
        std::to_string(symbol.begin) + "-" + std::to_string(symbol.end) + " " + symbol.name + ";";
  return text;
}

std::string stubs(const Stubs& code) {
  NameRoom room(0);
  return listed(plt_symbols(code.data(), code.size(), 0x1000,
                            {{0x1100, "memcmp"}, {0x1108, "malloc"}}, room));
}

TEST(Plt, EachStubHasTheNameOfItsSlot) {
  const Stubs binder = {0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40, 0};
  EXPECT_EQ(stubs(binder + jump(0x100 - 0x16, 16) + jump(0x108 - 0x26, 16)),
            "4096-4112 @plt;4112-4128 memcmp@plt;4128-4144 malloc@plt;");
}

TEST(Plt, ShortStubs) {
  EXPECT_EQ(stubs(jump(0x100 - 6, 8) + jump(0x108 - 0xe, 8)),
            "4096-4104 memcmp@plt;4104-4112 malloc@plt;");
  EXPECT_EQ(stubs(jump(0x100 - 6, 8)), "4096-4104 memcmp@plt;");
}

TEST(Plt, StubsBehindALandingMark) {
  const Stubs mark = {0xf3, 0x0f, 0x1e, 0xfa};
  EXPECT_EQ(stubs(mark + jump(0x100 - 10, 12) + mark + jump(0x108 - 26, 12)),
            "4096-4112 memcmp@plt;4112-4128 malloc@plt;");
}

TEST(Plt, UnknownCodeIsOneRow) {
  EXPECT_EQ(stubs(Stubs(40, 0xcc)), "4096-4136 @plt;");
  EXPECT_EQ(stubs(Stubs{0xff, 0x25, 1}), "4096-4099 @plt;");
  EXPECT_EQ(stubs({}), "");
}

TEST(Plt, OfARealFile) {
  const auto index = SymbolIndex::load({"/proc/self/exe"}, {});
  ASSERT_TRUE(index);
  bool found = false;
  for (std::uint32_t i = 0; i < index->size(); ++i)
    found = found || index->symbol(i).name.find("memcpy@plt") != std::string::npos;
  EXPECT_TRUE(found);
}

}  // namespace
