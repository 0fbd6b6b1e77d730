// A file that is mapped a second time as the loader does has the same unwind rules at the same
// code, a fixed distance away; and which file lies where in a process.
#include "libcollector/outside/mapped_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "libcollector/outside/mappings.h"
#include "libcollector/unwind/rule_maker.h"

namespace gnomon::outside {
namespace {

[[gnu::noinline]] void somewhere() { asm volatile(""); }

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

struct Opened {
  std::unique_ptr<MappedObject> object;
  std::uint64_t bias;
};

Opened open_again(CodeMappings& mappings, std::uint64_t pc) {
  const CodeMapping* mapping = mappings.find(pc);
  if (!mapping) return {};
  if (mapping->path == "[vdso]") {
    auto object = MappedObject::vdso();
    const auto bias = object->bias_of(mapping->begin, mapping->offset);
    return {std::move(object), bias.value_or(0)};
  }
  const int file = open(mapping->path.c_str(), O_RDONLY | O_CLOEXEC);
  auto object = MappedObject::open(file, mapping->path);
  close(file);
  if (!object) return {};
  const auto bias = object->bias_of(mapping->begin, mapping->offset);
  return {std::move(object), bias.value_or(0)};
}

TEST(MappedObject, HasTheRulesOfTheOneThatRuns) {
  CodeMappings mappings;
  ASSERT_TRUE(mappings.read(getpid()));
  std::size_t compared = 0;
  for (const std::uint64_t pc :
       {address_of(reinterpret_cast<void*>(somewhere)), address_of(reinterpret_cast<void*>(qsort)),
        address_of(reinterpret_cast<void*>(dl_iterate_phdr))}) {
    const auto [object, bias] = open_again(mappings, pc);
    ASSERT_TRUE(object);
    collector::FrameTable there = frame_table_of(object->here());
    there.shift = object->here().bias - bias;
    collector::LoadObject running = object->here();
    running.begin -= there.shift;
    running.end -= there.shift;
    running.bias = bias;
    const collector::FrameTable here = frame_table_of(running);
    for (std::uint64_t at = pc; at < pc + 64; ++at) {
      EXPECT_EQ(collector::make_rule(here, at), collector::make_rule(there, at)) << at - pc;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3 * 64u);
}

// As programs do that want their code on large pages.
TEST(MappedObject, IsFoundForCodeThatWasMovedToMemory) {
  void* const library = dlopen(GNOMON_TARGETS "/inlining_plain.so", RTLD_NOW);
  ASSERT_TRUE(library);
  const auto pc = address_of(dlsym(library, "inlining"));
  link_map* loaded = nullptr;
  ASSERT_TRUE(pc != 0 && dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0);
  CodeMappings mappings;
  ASSERT_TRUE(mappings.read(getpid()));
  const CodeMapping before = *mappings.find(pc);
  const std::size_t bytes = before.end - before.begin;
  void* const place = reinterpret_cast<void*>(before.begin);
  void* const copy =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(copy, MAP_FAILED);
  std::memcpy(copy, place, bytes);
  ASSERT_EQ(mprotect(copy, bytes, PROT_READ | PROT_EXEC), 0);
  ASSERT_NE(mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place), MAP_FAILED);
  ASSERT_TRUE(mappings.read(getpid()));
  const CodeMapping* const after = mappings.find(pc);
  ASSERT_TRUE(after && after->moved != 0);
  EXPECT_EQ(after->path, before.path);
  const int file = open(after->path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto object = MappedObject::open(file, after->path);
  close(file);
  ASSERT_TRUE(object);
  const auto bias_of = [&](std::uint64_t end) {
    return object->bias_around(after->begin - after->moved, after->offset - after->moved,
                               {after->begin, end});
  };
  EXPECT_EQ(bias_of(after->end), loaded->l_addr);
  EXPECT_FALSE(bias_of(after->end + bytes));  // more than the object's code
  dlclose(library);
}

TEST(MappedObject, RefusesWhatIsNoProgram) {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(MappedObject::open(file, "status"));
  close(file);
  EXPECT_FALSE(MappedObject::open(-1, "nothing"));
}

NewMapping mapping_of(std::uint64_t begin, std::uint64_t size, std::uint64_t offset,
                      std::uint64_t inode) {
  NewMapping mapping;
  mapping.begin = begin;
  mapping.size = size;
  mapping.offset = offset;
  mapping.inode = inode;
  mapping.file = "/lib/some.so";
  return mapping;
}

TEST(CodeMappings, ANewOneTakesThePlaceOfOthers) {
  CodeMappings mappings;
  EXPECT_TRUE(mappings.add(mapping_of(0x1000, 0x4000, 0, 1)).empty());
  // The loader maps an object as a whole first, then its parts again.
  EXPECT_TRUE(mappings.add(mapping_of(0x2000, 0x1000, 0x1000, 1)).empty());
  const auto replaced = mappings.add(mapping_of(0x3000, 0x1000, 0, 2));
  ASSERT_EQ(replaced.size(), 1u);
  EXPECT_EQ(replaced[0].inode, 1u);
  ASSERT_TRUE(mappings.find(0x2fff) && mappings.find(0x3000) && mappings.find(0x4000));
  EXPECT_EQ(mappings.find(0x2fff)->inode, 1u);
  EXPECT_EQ(mappings.find(0x3000)->inode, 2u);
  EXPECT_EQ(mappings.find(0x4000)->inode, 1u);
  EXPECT_EQ(mappings.find(0x4000)->offset, 0x3000u);
  EXPECT_FALSE(mappings.find(0x5000));
  EXPECT_FALSE(mappings.find(0xfff));
  EXPECT_EQ(mappings.add(mapping_of(0, 0x10000, 0, 3)).size(), 4u);
  EXPECT_EQ(mappings.find(0x1000)->inode, 3u);
}

}  // namespace
}  // namespace gnomon::outside
