// Names as their sources have them.
#include "reader/symbols/display_name.h"

#include <gtest/gtest.h>

using gnomon::reader::display_name;
using gnomon::reader::Names;

namespace {

TEST(DisplayName, Cpp) {
  EXPECT_EQ(display_name("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(display_name("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)");
  EXPECT_EQ(display_name("_Znonsense"), "_Znonsense");
}

TEST(DisplayName, RustOfBothManglings) {
  EXPECT_EQ(display_name("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
  EXPECT_EQ(display_name("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$"
                         "$GT$3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(display_name("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(display_name("_Register"), "_Register");
}

TEST(DisplayName, DAdaAndFortran) {
  EXPECT_EQ(display_name("_D3std5stdio4File5closeMFNeZv"), "std.stdio.File.close()");
  EXPECT_EQ(display_name("_Dmain"), "D main");
  EXPECT_EQ(display_name("_Done"), "_Done");
  EXPECT_EQ(display_name("__solver_MOD_step"), "solver::step");
  EXPECT_EQ(display_name("__FILE_MOD"), "__FILE_MOD");
  EXPECT_EQ(display_name("kernels__inner__step"), "kernels__inner__step");
  EXPECT_EQ(display_name("kernels__inner__step", Names::of_ada), "kernels.inner.step");
  EXPECT_EQ(display_name("Not__encoded", Names::of_ada), "Not__encoded");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Names that would decode to gigabytes: each step doubles the one before by two back references.
TEST(DisplayName, OfNamesThatExpand) {
  std::string cpp = "_Z1f1A1BIS_S_E";
  for (int i = 0; i < 30; ++i) {
    const std::string last = {'S', "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i], '_'};
    cpp.append("S0_I").append(last).append(last).append("E");
  }
  const std::string begin = display_name(cpp.c_str());
  EXPECT_TRUE(begin.starts_with("f(A, B<A, A>, ") && begin.ends_with(")")) << begin;
  EXPECT_NE(begin.find("..."), begin.npos);
  EXPECT_LT(begin.size(), 1100u);
  std::string rust = "_RINvC1a1f";
  for (int i = 0; i < 30; ++i) rust += "TTB" + std::string(i == 0 ? "_" : "9_") + "B9_E";
  rust += "E";
  EXPECT_NE(display_name(rust.c_str()), "");
  const std::string d = "_D1a1fF" + repeated("QcQd", 40) + "Zv";
  EXPECT_EQ(display_name(d.c_str()), d);
}

TEST(DisplayName, OfDeepNames) {
  const std::string pointers = "_Z1f" + repeated("P", 2000) + "i";
  EXPECT_EQ(display_name(pointers.c_str()), pointers) << "more than the decoder follows";
  const std::string scopes = "_ZN" + repeated("1a", 700) + "1fEv";
  EXPECT_EQ(display_name(scopes.c_str()).size(), 2103u);
  const std::string longest = "_ZN" + repeated("1a", 100'000) + "1fEv";
  EXPECT_EQ(display_name(longest.c_str()), longest);
}

TEST(DisplayName, VersionsAndStubs) {
  EXPECT_EQ(display_name("clock_gettime@@GLIBC_2.17"), "clock_gettime");
  EXPECT_EQ(display_name("memcmp@plt"), "memcmp@plt");
  EXPECT_EQ(display_name("_ZN3foo3barEi@plt"), "foo::bar(int)@plt");
  EXPECT_EQ(display_name("write@GLIBC_2.2.5@plt"), "write@plt");
  EXPECT_EQ(display_name("@plt"), "@plt");
}

}  // namespace
