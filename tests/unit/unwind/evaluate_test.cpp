// DWARF expressions on a made-up frame: every operation once, and what must be refused.
#include "libcollector/unwind/evaluate.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "libcollector/unwind/cursor.h"

using namespace gnomon::collector;

namespace {

class EvaluateTest : public testing::Test {
 protected:
  EvaluateTest() {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x1111111111111100 + i;
    saved[kSavedRip] = 0x4000;
    saved[kSavedRsp] = at(32);
    saved[kSavedRbp] = at(36);
    saved[kSavedIndex[kRbx]] = 21;
  }
  std::uint64_t at(std::size_t i) const { return reinterpret_cast<std::uint64_t>(&words[i]); }

  bool run(const std::vector<std::uint8_t>& bytes, std::uint64_t& value,
           const std::uint64_t* cfa = nullptr) {
    Cursor cursor(saved.data(), kNoRegister);
    EXPECT_TRUE(cursor.enter_stack({{at(0), at(0) + sizeof words}, {}}));
    const auto begin = reinterpret_cast<std::uint64_t>(bytes.data());
    return evaluate({begin, begin + bytes.size()}, cfa, cursor, value);
  }
  void expect(const std::vector<std::uint8_t>& bytes, std::uint64_t value) {
    std::uint64_t found = 0;
    EXPECT_TRUE(run(bytes, found)) << testing::PrintToString(bytes);
    EXPECT_EQ(found, value) << testing::PrintToString(bytes);
  }
  void refuse(const std::vector<std::uint8_t>& bytes, const char* why) {
    std::uint64_t found = 0;
    EXPECT_FALSE(run(bytes, found)) << why;
  }

  std::array<std::uint64_t, 64> words{};
  std::array<std::uint64_t, kSavedCount> saved{};
};

TEST_F(EvaluateTest, RegistersAndMemory) {
  expect({0x77, 0x08}, at(33));                  // breg7 8
  expect({0x92, 0x06, 0x08}, at(37));            // bregx 6 8
  expect({0x80, 0x02}, 0x4002);                  // breg16 2
  expect({0x77, 0x78, 0x06}, words[31]);         // red zone
  expect({0x77, 0x10, 0x94, 0x01}, 0x22);        // one byte
  expect({0x77, 0x14, 0x94, 0x04}, 0x11111111);  // four
  expect({0x77, 0x00, 0x06, 0x23, 0x05}, words[32] + 5);
  expect({0x73, 0x00, 0x38, 0x1e}, 21UL * 8);  // rbx * 8
}

TEST_F(EvaluateTest, Arithmetic) {
  expect({0x3a, 0x33, 0x1b}, 3);  // 10 / 3
  expect({0x3a, 0x33, 0x1d}, 1);  // 10 mod 3
  expect({0x3a, 0x33, 0x1c}, 7);
  expect({0x3a, 0x33, 0x22}, 13);
  expect({0x3a, 0x33, 0x21}, 11);
  expect({0x3a, 0x33, 0x1a}, 2);
  expect({0x3a, 0x33, 0x27}, 9);
  expect({0x3a, 0x1f}, -10ull);             // neg
  expect({0x3a, 0x20}, ~10ull);             // not
  expect({0x3a, 0x1f, 0x19}, 10);           // abs
  expect({0x3a, 0x1f, 0x31, 0x26}, -5ull);  // shra
  expect({0x3a, 0x31, 0x24}, 20);
  expect({0x3a, 0x31, 0x25}, 5);
  expect({0x3a, 0x33, 0x2b}, 1);  // gt
  expect({0x3a, 0x33, 0x2d}, 0);  // lt
}

TEST_F(EvaluateTest, StackAndBranches) {
  expect({0x31, 0x32, 0x12, 0x22}, 4);              // dup
  expect({0x31, 0x32, 0x13}, 1);                    // drop
  expect({0x31, 0x32, 0x14}, 1);                    // over
  expect({0x31, 0x32, 0x33, 0x15, 0x02}, 1);        // pick
  expect({0x31, 0x32, 0x16}, 1);                    // swap
  expect({0x31, 0x32, 0x33, 0x17}, 2);              // rot
  expect({0x31, 0x31, 0x28, 0x01, 0x00, 0x33}, 1);  // bra over lit3
  expect({0x31, 0x30, 0x28, 0x01, 0x00, 0x33}, 3);
  expect({0x2f, 0x01, 0x00, 0x33, 0x35}, 5);  // skip
  const std::uint64_t cfa = 0x7000;
  std::uint64_t value = 0;
  EXPECT_TRUE(run({0x23, 0x08}, value, &cfa)) << "the CFA is there at first";
  EXPECT_EQ(value, 0x7008u);
  EXPECT_TRUE(run({0x9c}, value, &cfa));
  EXPECT_EQ(value, 0x7000u);
}

TEST_F(EvaluateTest, RefusesTheRest) {
  refuse({}, "no value");
  refuse({0x06}, "nothing to dereference");
  refuse({0x31, 0x22}, "one operand");
  refuse({0x31, 0x30, 0x1b}, "division by zero");
  refuse({0x31, 0x06}, "a word that does not lie on the stack");
  refuse({0x77, 0x04, 0x06}, "a word that is not aligned");
  refuse({0x77, 0xf8, 0x7d, 0x06}, "a word below the red zone");
  refuse({0x77, 0x14, 0x94, 0x08}, "bytes of two words");
  refuse({0x2f, 0xfd, 0xff}, "an endless loop");
  refuse({0x2f, 0x10, 0x00}, "a jump behind the end");
  refuse({0x9c}, "no CFA");
  refuse({0x90, 0x11}, "an unknown operation");
  refuse({0x92, 0x21, 0x00}, "an unknown register");
  refuse(std::vector<std::uint8_t>(33, 0x31), "too deep");
  refuse({0x0e, 0x31}, "an operand cut short");
}

}  // namespace
