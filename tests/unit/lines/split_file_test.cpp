// A package of split DWARF gives the same sections of a unit as the file that was packed.
#include "reader/lines/split_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

constexpr std::uint64_t kUnit = 0x1234567800000003, kOther = 0x1234567900000003;  // one slot

std::map<std::string, std::string> by_name(const std::vector<MemorySection>& sections) {
  std::map<std::string, std::string> all;
  for (const MemorySection& section : sections) all[section.name] = section.bytes;
  return all;
}

void put(std::string& to, std::uint64_t value, std::size_t bytes) {
  to.append(reinterpret_cast<const char*>(&value), bytes);
}

// DWARF 5, 7.3.5.3: two units of which the second one's slot is taken.
std::string index_of(const std::vector<std::uint32_t>& kinds,
                     const std::vector<std::uint32_t>& offsets,
                     const std::vector<std::uint32_t>& sizes) {
  constexpr std::uint32_t kSlots = 4;
  std::string index;
  for (const std::uint64_t each :
       {std::uint64_t{5}, kinds.size(), std::uint64_t{2}, std::uint64_t{kSlots}})
    put(index, each, 4);
  // kOther is met first at slot 3; kUnit steps on from there by 1 (its upper half masked, odd).
  for (const std::uint64_t id : {kUnit, std::uint64_t{0}, std::uint64_t{0}, kOther})
    put(index, id, 8);
  for (const std::uint64_t row : {2, 0, 0, 1}) put(index, row, 4);
  for (const std::uint32_t kind : kinds) put(index, kind, 4);
  for (std::size_t i = 0; i < kinds.size(); ++i) put(index, 0, 4);
  for (const std::uint32_t offset : offsets) put(index, offset, 4);
  for (std::size_t i = 0; i < kinds.size(); ++i) put(index, 1, 4);
  for (const std::uint32_t size : sizes) put(index, size, 4);
  return index;
}

// Returns the path of a file with these sections.
std::string written(const test::Directory& directory, const std::vector<MemorySection>& sections) {
  const MemoryElf elf(EM_X86_64, sections);
  std::ifstream in(elf.path(), std::ios::binary);
  std::string path = directory.file("made.dwp");
  std::ofstream(path, std::ios::binary) << in.rdbuf();
  return path;
}

TEST(SplitFile, PackageOfVersion5) {
  const std::map<std::uint32_t, std::string> parts = {
      {1, ".debug_info.dwo"}, {3, ".debug_abbrev.dwo"}, {6, ".debug_str_offsets.dwo"}};
  std::map<std::string, std::string> unit = {{".debug_info.dwo", "the unit"},
                                             {".debug_abbrev.dwo", "its abbreviations"}};
  std::string& offsets = unit[".debug_str_offsets.dwo"];
  put(offsets, 12, 4);
  put(offsets, 5, 4);
  for (const std::uint64_t offset : {10, 6}) put(offsets, offset, 4);
  std::vector<MemorySection> sections = {
      {".debug_str.dwo", std::string("other\0two\0three\0", 16)}};
  std::vector<std::uint32_t> kinds, begins, sizes;
  for (const auto& [kind, name] : parts) {
    kinds.push_back(kind);
    begins.push_back(3);
    sizes.push_back(static_cast<std::uint32_t>(unit[name].size()));
    sections.push_back({name, "..." + unit[name] + "behind"});
  }
  sections.push_back({".debug_cu_index", index_of(kinds, begins, sizes)});
  test::Directory directory;
  auto package = SplitFile::open(written(directory, sections));
  ASSERT_TRUE(package) << package.error().what;
  const auto found = package->sections_of(kUnit);
  ASSERT_TRUE(found) << found.error().what;
  auto all = by_name(*found);
  EXPECT_EQ(all[".debug_info.dwo"], unit[".debug_info.dwo"]);
  EXPECT_EQ(all[".debug_abbrev.dwo"], unit[".debug_abbrev.dwo"]);
  // Only the unit's own strings, with offsets that lead there.
  EXPECT_EQ(all[".debug_str.dwo"], std::string("three\0two\0", 10));
  std::uint32_t first = 1, second = 0;
  std::memcpy(&first, all[".debug_str_offsets.dwo"].data() + 8, 4);
  std::memcpy(&second, all[".debug_str_offsets.dwo"].data() + 12, 4);
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 6u);
  EXPECT_FALSE(package->sections_of(kUnit + 1));
}

TEST(SplitFile, DamagedPackage) {
  test::Directory directory;
  const std::string whole = index_of({1}, {0}, {4});
  for (std::size_t size = 1; size < whole.size(); ++size) {
    auto package = SplitFile::open(written(
        directory, {{".debug_info.dwo", "unit"}, {".debug_cu_index", whole.substr(0, size)}}));
    ASSERT_TRUE(package);
    EXPECT_FALSE(package->sections_of(kUnit)) << size;
  }
}

}  // namespace
