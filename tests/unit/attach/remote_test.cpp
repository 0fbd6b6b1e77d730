// Load objects and call stacks of a process, read from outside: this one's.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "injector/attach/remote/call_target.h"
#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/remote_stack.h"

namespace {

using namespace gnomon::injector;

std::uint64_t base_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) ? reinterpret_cast<std::uint64_t>(info.dli_fbase) : 0;
}

TEST(RemoteImage, FindsAllVersions) {
  void* const handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  void* const create = dlsym(handle, "pthread_create");
  dlclose(handle);
  const auto libc = RemoteImage::at(getpid(), base_of(create));
  ASSERT_TRUE(libc);
  EXPECT_EQ(libc->function("pthread_create"), reinterpret_cast<std::uint64_t>(create));
  // GLIBC_2.2.5 and GLIBC_2.3.2.
  const auto waits = libc->functions("pthread_cond_wait");
  ASSERT_EQ(waits.size(), 2u);
  for (const AddressRange& range : waits) EXPECT_LT(range.begin, range.end);
  EXPECT_EQ(libc->function("no_such_function"), 0u);
}

// Whatever stands in memory, the reader ends and reads nothing but that memory.
TEST(RemoteImage, DamagedHeadersEnd) {
  constexpr std::size_t kBytes = 64ul * 1024;
  const auto* whole = reinterpret_cast<const char*>(base_of(reinterpret_cast<void*>(&base_of)));
  auto* copy = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(copy, MAP_FAILED);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    ASSERT_TRUE(read_memory(getpid(), reinterpret_cast<std::uint64_t>(whole), copy, 4096));
    for (int i = 0; i < 20; ++i) copy[random() % 1024] = static_cast<char>(random());
    std::string_view("\177ELF\2").copy(copy, 5);
    if (const auto image = RemoteImage::at(getpid(), reinterpret_cast<std::uint64_t>(copy)))
      image->functions("malloc");
  }
  munmap(copy, kBytes);
}

[[gnu::noipa]] void* returns_to() { return __builtin_return_address(0); }

TEST(CalledFunction, Straight) {
  void* const back = returns_to();
  EXPECT_EQ(called_function(getpid(), reinterpret_cast<std::uint64_t>(back)),
            reinterpret_cast<std::uint64_t>(&returns_to));
  EXPECT_EQ(called_function(getpid(), 8), 0u);
}

// A call at 0 leads to a stub at 32, which goes by the pointer at 64; one at 16 goes by it itself.
TEST(CalledFunction, ByPointer) {
  alignas(64) unsigned char code[80] = {};
  const auto begin = reinterpret_cast<std::uint64_t>(code);
  const std::uint64_t function = 0x1234'5678'9abc;
  const auto put = [&](std::size_t at, std::vector<unsigned char> bytes) {
    std::copy(bytes.begin(), bytes.end(), code + at);
  };
  put(1, {0xe8, 32 - 6, 0, 0, 0});
  put(16, {0xff, 0x15, 64 - 22, 0, 0, 0});
  std::memcpy(code + 64, &function, sizeof function);
  EXPECT_EQ(called_function(getpid(), begin + 22), function);
  EXPECT_EQ(called_function(getpid(), begin + 6), begin + 32);
  put(32, {0xff, 0x25, 64 - 38, 0, 0, 0});
  EXPECT_EQ(called_function(getpid(), begin + 6), function);
  put(32, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 64 - 43, 0, 0, 0});
  EXPECT_EQ(called_function(getpid(), begin + 6), function);
  put(4, {0xff, 0xd0});  // call *%rax
  code[1] = 0;
  EXPECT_EQ(called_function(getpid(), begin + 6), 0u);
}

TEST(RemoteProcess, FindsMappings) {
  const std::string path = testing::TempDir() + "a file with  blanks";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_EQ(ftruncate(file, 3l * 4096), 0);
  void* at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 2l * 4096);
  ASSERT_NE(at, MAP_FAILED);
  close(file);
  unlink(path.c_str());
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  const std::vector<Mapping> all = mappings_of(getpid());
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Mapping& mapping) { return mapping.begin == begin; });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->end, begin + 4096);
  EXPECT_EQ(found->offset, 2u * 4096);
  EXPECT_EQ(found->permissions, "r--s");
  EXPECT_EQ(found->path, path + " (deleted)");
  EXPECT_TRUE(is_mapped(getpid(), begin, 4096, "r--"));
  EXPECT_FALSE(is_mapped(getpid(), begin, 4096, "rw-"));
  munmap(at, 4096);
  EXPECT_FALSE(is_mapped(getpid(), begin, 4096, "r--"));
}

TEST(RemoteProcess, FindsNumbers) {
  const std::string status = "Name:\tSeccomp: 5\nSeccomp_filters:\t3\nSeccomp:\t2\nSigBlk:\t1f";
  EXPECT_EQ(number_in(status, "Seccomp"), 2u);
  EXPECT_EQ(number_in(status, "Seccomp_filters"), 3u);
  EXPECT_EQ(number_in(status, "SigBlk", 16), 0x1fu);
  EXPECT_EQ(number_in(status, "Sig"), std::nullopt);
  EXPECT_EQ(number_in("", "Seccomp"), std::nullopt);
}

TEST(RemoteProcess, LooksAtEachOnce) {
  for (const std::size_t count : {0u, 1u, 127u, 128u, 5000u}) {
    std::vector<int> looks(count);
    look_at_each(count, [&](std::size_t i) { ++looks[i]; });
    EXPECT_EQ(std::count(looks.begin(), looks.end(), 1), static_cast<std::ptrdiff_t>(count));
  }
}

[[gnu::noipa]] std::vector<Frame> inner(ucontext_t& context, std::uint64_t& here) {
  getcontext(&context);
  const greg_t* g = context.uc_mcontext.gregs;
  const auto at = [g](int index) { return static_cast<std::uint64_t>(g[index]); };
  const DwarfRegisters registers = {at(REG_RAX), at(REG_RDX), at(REG_RCX), at(REG_RBX), at(REG_RSI),
                                    at(REG_RDI), at(REG_RBP), at(REG_RSP), at(REG_R8),  at(REG_R9),
                                    at(REG_R10), at(REG_R11), at(REG_R12), at(REG_R13), at(REG_R14),
                                    at(REG_R15), at(REG_RIP)};
  here = at(REG_RIP);
  RemoteStacks stacks(getpid());
  const CallStack stack = stacks.walk(registers);
  EXPECT_TRUE(stack.is_whole);
  return stack.frames;
}

TEST(RemoteStacks, WalksToTheEnd) {
  ucontext_t context{};
  std::uint64_t here = 0;
  const std::vector<Frame> frames = inner(context, here);
  ASSERT_GT(frames.size(), 3u);
  EXPECT_EQ(frames[0].pc, here);
  EXPECT_TRUE(frames[0].is_interrupted);
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_FALSE(frames[i].is_interrupted);
  Dl_info caller{};
  ASSERT_TRUE(dladdr(reinterpret_cast<void*>(frames[1].pc), &caller));
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(caller.dli_fbase),
            base_of(reinterpret_cast<void*>(&base_of)));
}

}  // namespace
