// Files that are opened in a thread with descriptors of its own. The program sees neither.
#include "libcollector/core/own_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "libcollector/core/small_file.h"

namespace gnomon::collector {
namespace {

class OwnDescriptors : public testing::Test {
 protected:
  OwnDescriptors() { keep_descriptors_apart(true); }
  ~OwnDescriptors() override { keep_descriptors_apart(false); }
};

long threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

TEST_F(OwnDescriptors, NothingIsSharedWithTheCallers) {
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  const auto caller = static_cast<std::uint32_t>(gettid());
  std::uint32_t thread = 0, program_thread_there = 0;
  int number = -1;
  with_own_descriptors([&] {
    thread = static_cast<std::uint32_t>(gettid());
    program_thread_there = program_thread();
    number = open("/dev/zero", O_RDONLY);
  });
  EXPECT_EQ(number, 0);
  EXPECT_NE(thread, caller);
  EXPECT_EQ(program_thread_there, caller);
  EXPECT_EQ(program_thread(), caller);
  const int after = open("/dev/null", O_RDONLY);
  EXPECT_EQ(after, before);
  close(after);
}

TEST_F(OwnDescriptors, OneIsKept) {
  const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  bool is_there = false, is_other_there = true;
  with_own_descriptors(
      [&] {
        is_there = fcntl(kept, F_GETFD) >= 0;
        is_other_there = fcntl(STDERR_FILENO, F_GETFD) >= 0;
      },
      kept);
  EXPECT_TRUE(is_there);
  EXPECT_FALSE(is_other_there);
  EXPECT_GE(fcntl(STDERR_FILENO, F_GETFD), 0);
  close(kept);
}

TEST_F(OwnDescriptors, WhatIsMappedStays) {
  void* page = MAP_FAILED;
  with_own_descriptors([&] {
    page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0);
  });
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_EQ(std::string(static_cast<const char*>(page) + 1, 3), "ELF");
  munmap(page, 4096);
}

TEST_F(OwnDescriptors, TheThreadIsGoneWhenTheCallerGoesOn) {
  const long before = threads_here();
  for (int i = 0; i < 200; ++i) {
    with_own_descriptors([] {});
    ASSERT_EQ(threads_here(), before) << i;
  }
}

TEST_F(OwnDescriptors, ThreadsCanOpenAtTheSameTimeAndWithinEachOther) {
  std::atomic<int> wrong = 0;
  const auto read_often = [&] {
    for (int i = 0; i < 200; ++i)
      with_own_descriptors([&] {
        char text[64];
        if (read_small_file("/proc/self/comm", text, sizeof text) == 0) ++wrong;
      });
  };
  std::thread first(read_often), second(read_often);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

std::atomic<int> signals_taken = 0;

TEST_F(OwnDescriptors, SignalsComeAfterwardsAndToTheCaller) {
  signals_taken = 0;
  struct sigaction previous {
  }, action{};
  action.sa_handler = [](int) { ++signals_taken; };
  sigaction(SIGUSR1, &action, &previous);
  int taken_inside = -1;
  const pid_t self = gettid();
  with_own_descriptors([&] {
    tgkill(getpid(), self, SIGUSR1);
    taken_inside = signals_taken;
  });
  EXPECT_EQ(taken_inside, 0);
  EXPECT_EQ(signals_taken, 1);
  sigaction(SIGUSR1, &previous, nullptr);
}

TEST(OwnDescriptorsAreOff, TheCallerOpens) {
  pid_t thread = 0;
  with_own_descriptors([&] { thread = gettid(); });
  EXPECT_EQ(thread, gettid());
}

}  // namespace
}  // namespace gnomon::collector
