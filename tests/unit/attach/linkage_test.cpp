// What a program asks of the loader, by its file, whole or damaged.
#include "injector/files/linkage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "injector/files/sanitizers.h"

namespace {

using gnomon::injector::Linkage;

class File {
 public:
  explicit File(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / ("linkage." + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Linkage, OfThisProgram) {
  const auto linkage = Linkage::of("/proc/self/exe");
  ASSERT_TRUE(linkage);
  const auto& needed = linkage->needed();
  EXPECT_NE(std::find(needed.begin(), needed.end(), "libc.so.6"), needed.end());
  EXPECT_TRUE(linkage->has_symbol("getpid"));
  EXPECT_FALSE(linkage->has_symbol("getpi"));
}

TEST(Linkage, OfNoProgram) {
  EXPECT_FALSE(Linkage::of("/nowhere"));
  EXPECT_FALSE(Linkage::of("/dev/null"));
}

TEST(Linkage, OfSanitizedPrograms) {
  using gnomon::injector::check_sanitizer, gnomon::injector::first_library;
  const auto plain = Linkage::of(GNOMON_TARGETS "/waits");
  const auto address = Linkage::of(GNOMON_TARGETS "/waits_address");
  const auto thread = Linkage::of(GNOMON_TARGETS "/waits_thread");
  ASSERT_TRUE(plain && address && thread);
  EXPECT_EQ(first_library(*plain), "");
  EXPECT_TRUE(first_library(*address).starts_with("libasan.so."));
  EXPECT_TRUE(check_sanitizer(*plain) && check_sanitizer(*address));
  EXPECT_FALSE(check_sanitizer(*thread));
}

// Answers or not, but ends.
TEST(Linkage, OfDamagedPrograms) {
  const std::string whole = own_bytes().substr(0, 200'000);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole.substr(0, i % 3 == 0 ? random() % whole.size() : whole.size());
    // Headers, and what they lead to.
    for (int n = 0; n < 8 && !bytes.empty(); ++n)
      bytes[random() % std::min<std::size_t>(bytes.size(), n < 6 ? 1024 : bytes.size())] =
          static_cast<char>(random());
    const File file(bytes);
    const auto linkage = Linkage::of(file.path());
    if (!linkage) continue;
    for (const std::string& name : linkage->needed()) EXPECT_LT(name.size(), bytes.size());
  }
}

}  // namespace
