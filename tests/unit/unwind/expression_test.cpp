// DWARF expressions of call frame information: the shapes compilers and libraries write.
#include "libcollector/unwind/expression.h"

#include <gtest/gtest.h>

#include <vector>

using namespace gnomon::collector;

namespace {

bool reduced(const std::vector<std::uint8_t>& bytes, Term& term, std::uint64_t pc = 0) {
  const auto at = reinterpret_cast<std::uint64_t>(bytes.data());
  return reduce({at, at + bytes.size()}, pc, term);
}

TEST(Expression, RegisterAndOffset) {
  Term term;
  ASSERT_TRUE(reduced({0x77, 0x08}, term));  // breg7 8
  EXPECT_EQ(term.reg, kRsp);
  EXPECT_FALSE(term.deref);
  EXPECT_EQ(term.offset, 8);
}

TEST(Expression, WordInMemory) {
  Term term;
  ASSERT_TRUE(reduced({0x76, 0x78, 0x06}, term));  // breg6 -8; deref
  EXPECT_EQ(term.reg, kRbp);
  EXPECT_TRUE(term.deref);
  EXPECT_EQ(term.offset, -8);
  ASSERT_TRUE(reduced({0x77, 0x98, 0x01, 0x06, 0x23, 0x08}, term));  // breg7 152; deref; +8
  EXPECT_EQ(term.offset, 152);
  EXPECT_EQ(term.addend, 8);
}

// The linker's for .plt: a push lies behind us from byte 11 of each entry on.
TEST(Expression, ProcedureLinkageTable) {
  const std::vector<std::uint8_t> plt = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                         0x3b, 0x2a, 0x33, 0x24, 0x22};
  Term term;
  for (std::uint64_t pc = 0x1000; pc < 0x1010; ++pc) {
    ASSERT_TRUE(reduced(plt, term, pc));
    EXPECT_EQ(term.reg, kRsp);
    EXPECT_EQ(term.offset, (pc & 15) >= 11 ? 16 : 8) << pc;
  }
}

TEST(Expression, RefusesTheRest) {
  Term term;
  EXPECT_FALSE(reduced({}, term));
  EXPECT_FALSE(reduced({0x77}, term)) << "operand missing";
  EXPECT_FALSE(reduced({0x06}, term)) << "nothing to dereference";
  EXPECT_FALSE(reduced({0x77, 0, 0x06, 0x06}, term)) << "two brackets";
  EXPECT_FALSE(reduced({0x77, 0, 0x76, 0, 0x22}, term)) << "sum of two registers";
  EXPECT_FALSE(reduced({0x77, 0, 0x77, 0}, term)) << "two results";
  EXPECT_FALSE(reduced({0x96}, term)) << "an operation of another kind";
  EXPECT_FALSE(reduced(std::vector<std::uint8_t>(9, 0x31), term)) << "too deep";
}

}  // namespace
