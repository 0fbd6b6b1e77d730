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

TEST(DisplayName, VersionsAndStubs) {
  EXPECT_EQ(display_name("clock_gettime@@GLIBC_2.17"), "clock_gettime");
  EXPECT_EQ(display_name("memcmp@plt"), "memcmp@plt");
  EXPECT_EQ(display_name("_ZN3foo3barEi@plt"), "foo::bar(int)@plt");
  EXPECT_EQ(display_name("write@GLIBC_2.2.5@plt"), "write@plt");
  EXPECT_EQ(display_name("@plt"), "@plt");
}

}  // namespace
