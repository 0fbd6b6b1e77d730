// What load objects tell the loader: this process's own, and damaged copies.
#include "libcollector/hook/dynamic_section.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

using namespace gnomon::collector;

namespace {

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// The object that `address` lies in.
LoadObject object_around(const void* address) {
  struct Search {
    std::uint64_t at;
    LoadObject found;
  } search{number(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [at, found] = *static_cast<Search*>(data);
        const LoadObject object = load_object_of(*info);
        if (at >= object.begin && at < object.end) found = object;
        return 0;
      },
      &search);
  return search.found;
}

TEST(DynamicSection, SymbolsOfLibc) {
  void* const function = dlsym(RTLD_DEFAULT, "pthread_create");
  const LoadObject libc = object_around(function);
  int found = 0;
  for (const auto& symbol : dynamic_section_of(libc).symbols)
    found += symbol.st_shndx != SHN_UNDEF && libc.bias + symbol.st_value == number(function);
  EXPECT_GE(found, 1);
}

// The slot that a call of this program's goes by.
TEST(DynamicSection, RelocationsOfTheProgram) {
  void* const function = dlsym(RTLD_DEFAULT, "dl_iterate_phdr");
  const LoadObject program = object_around(reinterpret_cast<const void*>(&object_around));
  const DynamicSection section = dynamic_section_of(program);
  object_around(nullptr);  // bound by now, if lazily
  int found = 0;
  for (const auto relocations : {section.data, section.plt})
    for (const auto& relocation : relocations)
      found += *reinterpret_cast<const std::uint64_t*>(program.bias + relocation.r_offset) ==
               number(function);
  EXPECT_GE(found, 1);
}

// Whatever stands there, all that is found lies in the object.
TEST(DynamicSection, DamagedStaysInside) {
  constexpr std::size_t kBytes = 16ul * 4096;
  auto* const copy = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(copy, MAP_FAILED);
  ElfW(Phdr) header{};
  header.p_type = PT_DYNAMIC;
  header.p_memsz = 4096;
  const LoadObject object{number(copy), number(copy) + kBytes, number(copy), "", &header, 1};
  const auto is_inside = [&](const auto& table) {
    return table.empty() || (number(&table.front()) >= object.begin &&
                             number(&table.front() + table.size()) <= object.end);
  };
  constexpr ElfW(Sxword) kTags[] = {DT_PLTREL,   DT_RELA,   DT_RELASZ,   DT_RELACOUNT, DT_JMPREL,
                                    DT_PLTRELSZ, DT_SYMTAB, DT_GNU_HASH, DT_NULL + 1};
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t at = 4096; at < kBytes; at += 8) {
      const std::uint64_t word = random() >> random() % 64;
      std::memcpy(copy + at, &word, sizeof word);
    }
    for (std::size_t i = 0; i < std::size(kTags); ++i) {
      const ElfW(Dyn) entry{kTags[i], {.d_val = random() % 4 == 0 ? random() : random() % kBytes}};
      std::memcpy(copy + i * sizeof entry, &entry, sizeof entry);
    }
    const ElfW(Dyn) kind{DT_PLTREL, {.d_val = DT_RELA}};
    std::memcpy(copy, &kind, sizeof kind);
    const DynamicSection found = dynamic_section_of(object);
    EXPECT_TRUE(is_inside(found.data) && is_inside(found.plt) && is_inside(found.symbols));
  }
  munmap(copy, kBytes);
}

}  // namespace
