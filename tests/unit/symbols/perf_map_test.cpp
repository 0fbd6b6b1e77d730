// Names of code made at run time.
#include "reader/symbols/perf_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

class PerfMaps : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_.path() + "/tmp");
    experiment_.directory = directory_.path();
    experiment_.header.pid = 77;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), experiment_.header.boot);
    path_ = directory_.path() + "/tmp/perf-77.map";
  }
  PerfMap load() {
    PerfMap map;
    map.refresh(experiment_, directory_.path());
    return map;
  }

  test::Directory directory_;
  Experiment experiment_;
  std::string path_;
};

TEST_F(PerfMaps, LaterEntriesReplaceEarlierOnes) {
  std::ofstream(path_)
      << "1000 100 first\n0x2000 0x10 a name with blanks\n1080 20 second\nnonsense\n"
         "3000 0 empty\nffffffffffffff00 200 wraps\n";
  const PerfMap map = load();
  const auto name = [&](std::uint64_t pc) { return map.name(pc) ? *map.name(pc) : "-"; };
  EXPECT_EQ(name(0x1080), "second");
  EXPECT_EQ(name(0x1000), "-");
  EXPECT_EQ(name(0x200f), "a name with blanks");
  EXPECT_EQ(name(0x2010), "-");
  EXPECT_EQ(name(0x3000), "-");
  EXPECT_EQ(name(0xffffffffffffff80), "-");
  EXPECT_EQ(map.refusal(), "");
}

TEST_F(PerfMaps, OnlyOfThisProcess) {
  EXPECT_EQ(load().refusal(), "");
  std::ofstream(path_) << "1000 100 first\n";
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), old, 0), 0);
  EXPECT_EQ(load().name(0x1000), nullptr);
  EXPECT_NE(load().refusal().find("is older than the process"), std::string::npos);
  experiment_.header.boot = "another";
  EXPECT_EQ(load().refusal(), "");
  EXPECT_EQ(load().name(0x1000), nullptr);
}

TEST_F(PerfMaps, FollowsTheFileAndKeepsItsNames) {
  std::ofstream(path_) << "1000 100 first\n";
  PerfMap map = load();
  ASSERT_NE(map.name(0x1000), nullptr);
  const std::string* const before = map.name(0x1000);
  map.refresh(experiment_, directory_.path());
  EXPECT_EQ(map.name(0x1000), before);
  std::ofstream(path_, std::ios::app) << "2000 100 second\n";
  map.refresh(experiment_, directory_.path());
  ASSERT_NE(map.name(0x2000), nullptr);
  std::filesystem::remove(path_);
  map.refresh(experiment_, directory_.path());
  EXPECT_NE(map.name(0x2000), nullptr);
}

TEST_F(PerfMaps, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(load().name(0x1000), nullptr);
}

}  // namespace
