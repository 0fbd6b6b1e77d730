// libFuzzer: the input is a pc (8 bytes, from the beginning of the memory), then the memory of a
// load object that begins with its .eh_frame_hdr; or a DWARF expression.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libcollector/unwind/cursor.h"
#include "libcollector/unwind/evaluate.h"
#include "libcollector/unwind/expression.h"
#include "libcollector/unwind/rule_maker.h"

namespace {

using namespace gnomon::collector;

void read_tables(const ByteRange& memory, std::uint64_t pc) {
  FrameTable table;
  table.header = memory.begin;
  table.add(memory);
  FrameTable listed = table;  // as of an object without .eh_frame_hdr
  listed.header = 0;
  listed.frames = memory;
  for (const FrameTable& each : {table, listed}) {
    make_rule(each, pc);
    Row row;
    find_row(each, pc, kRbx, row);
  }
}

void evaluate_on_a_frame(const ByteRange& expression) {
  static std::array<std::uint64_t, 64> words{};
  static std::array<std::uint64_t, kSavedCount> saved{};
  saved[kSavedRip] = expression.begin;
  saved[kSavedRsp] = reinterpret_cast<std::uint64_t>(&words[32]);
  Cursor cursor(saved.data(), kNoRegister);
  const auto begin = reinterpret_cast<std::uint64_t>(words.data());
  if (!cursor.enter_stack({{begin, begin + sizeof words}, {}})) return;
  std::uint64_t value = 0;
  evaluate(expression, nullptr, cursor, value);
  evaluate(expression, &begin, cursor, value);
  Term term;
  reduce(expression, begin, term);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t pc = 0;
  if (size < sizeof pc) return 0;
  std::memcpy(&pc, data, sizeof pc);
  const auto begin = reinterpret_cast<std::uint64_t>(data) + sizeof pc;
  const ByteRange memory{begin, reinterpret_cast<std::uint64_t>(data) + size};
  read_tables(memory, begin + pc);
  evaluate_on_a_frame(memory);
  return 0;
}
