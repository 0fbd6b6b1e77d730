// Where the call begins that a return address lies behind.
#include "reader/lines/code_bytes.h"

#include <gtest/gtest.h>

#include "reader/symbols/elf/module.h"

using namespace gnomon::reader;

namespace {

std::uint64_t begin_of(const std::vector<unsigned char>& bytes) {
  const CodeBytes code(0x1000, bytes);
  return code.call_around(0x1000 + bytes.size() - 1) - 0x1000;
}

TEST(CodeBytes, Calls) {
  constexpr unsigned char nop = 0x90;
  EXPECT_EQ(begin_of({nop, nop, 0xe8, 0xf9, 0xff, 0xff, 0xff}), 2u);   // call 0x1000
  EXPECT_EQ(begin_of({nop, 0x67, 0xe8, 0xfa, 0xff, 0xff, 0xff}), 1u);  // addr32 call
  EXPECT_EQ(begin_of({nop, 0xff, 0xd0}), 1u);                          // *%rax
  EXPECT_EQ(begin_of({nop, 0x41, 0xff, 0xd4}), 1u);                    // *%r12
  EXPECT_EQ(begin_of({nop, 0xff, 0x15, 1, 2, 3, 4}), 1u);              // *d(%rip)
  EXPECT_EQ(begin_of({nop, 0xff, 0x50, 0x18}), 1u);                    // *24(%rax)
  EXPECT_EQ(begin_of({nop, 0xff, 0x14, 0xc7}), 1u);                    // *(%rdi,%rax,8)
  EXPECT_EQ(begin_of({nop, 0xff, 0x94, 0xc7, 1, 2, 3, 4}), 1u);        // *d(%rdi,%rax,8)
  EXPECT_EQ(begin_of({nop, 0x41, 0xff, 0x54, 0x24, 0x08}), 1u);        // *8(%r12)
  EXPECT_EQ(begin_of({nop, nop, nop, nop, nop, nop}), 5u);             // none
  EXPECT_EQ(begin_of({nop, 0xe8, 0, 0, 0, 0x70}), 5u);                 // leads to no code
}

TEST(CodeBytes, EveryCallOfAProgram) {
  const auto module = Module::open({GNOMON_TARGETS "/lines.so"}, {}, {});
  ASSERT_TRUE(module);
  const CodeBytes code(module->elf());
  EXPECT_EQ(code.call_around(0x10067), 0x10063u);
  EXPECT_EQ(code.call_around(0x100a0), 0x1009cu);
  EXPECT_EQ(code.at(0x100b9, 4).size(), 4u);
  EXPECT_TRUE(code.at(0x9000, 4).empty());
  EXPECT_EQ(code.at(0x100c2, 4).size(), 1u);
}

}  // namespace
