// What is left of a recording whose process ended while it began.
#include "injector/base/recording.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "injector/base/overwriting.h"
#include "injector/launch/handshake.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

class LeftBehind : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "gnomon-left-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    settings_.stem = folder_ / "test";
    settings_.session = 7;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path make(int number, format::State state, std::uint64_t session, pid_t pid = getpid()) {
    fs::path experiment = folder_ / ("test." + std::to_string(number) + ".er");
    fs::create_directory(experiment);
    format::ControlPage page{};
    page.magic = format::kControlMagic;
    page.major = format::kFormatMajor;
    page.session = session;
    page.pid = static_cast<std::uint32_t>(pid);
    page.state = static_cast<std::uint32_t>(state);
    std::string bytes(format::kControlBytes, '\0');
    std::memcpy(bytes.data(), &page, sizeof page);
    std::ofstream(experiment / format::kControlFile) << bytes;
    std::ofstream(experiment / "header.json") << "{}";
    return experiment;
  }
  Fault told() const { return with_left_behind({"it has ended", "repeat"}, settings_, getpid()); }

  fs::path folder_;
  Settings settings_;
};

TEST_F(LeftBehind, NothingIsThere) {
  EXPECT_EQ(told().what, "it has ended");
  EXPECT_EQ(told().next, "repeat");
}

TEST_F(LeftBehind, ARecordingIsNamedAndStays) {
  const fs::path experiment = make(2, format::State::recording, 7);
  EXPECT_EQ(told().what, "it has ended");
  EXPECT_NE(told().next.find(experiment.string()), std::string::npos);
  EXPECT_TRUE(fs::exists(experiment / "header.json"));
}

TEST_F(LeftBehind, WhatHoldsNothingGoes) {
  for (const auto state : {format::State::none, format::State::armed}) {
    const fs::path experiment = make(1, state, 7);
    EXPECT_EQ(told().next, "repeat");
    EXPECT_FALSE(fs::exists(experiment)) << static_cast<int>(state);
  }
}

TEST_F(LeftBehind, OthersStay) {
  const fs::path others[] = {make(1, format::State::none, 8), make(2, format::State::ended, 7),
                             make(3, format::State::failed, 7)};
  EXPECT_EQ(told().next, "repeat");
  for (const fs::path& experiment : others) EXPECT_TRUE(fs::exists(experiment)) << experiment;
}

// The experiment's page was there when its program ended, and does not say why. The launch does not
// wait for the rest of the time that a program has to begin.
TEST_F(LeftBehind, AProgramThatEndedIsNotWaitedFor) {
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_GT(ended, 0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT), 0);
  make(1, format::State::none, 7, ended);
  constexpr unsigned kLimitMs = 60'000;
  const auto begun =
      injector::ask_to_record({settings_.stem, settings_.session, ended}, kLimitMs, {}, {});
  EXPECT_EQ(begun.value_or("failed"), "");
  EXPECT_EQ(waitpid(ended, nullptr, 0), ended);
}

// The constructors of a program's libraries may take long.
TEST_F(LeftBehind, AProgramThatIsLateIsToldOfAndAwaited) {
  const pid_t late = fork();
  if (late == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(late, 0);
  std::string told;
  const auto tell = [&](const std::string& why) {
    told += why;
    make(1, format::State::armed, 7, late);
  };
  const auto begun =
      injector::ask_to_record({settings_.stem, settings_.session, late}, 20, {{}, tell}, {});
  EXPECT_EQ(begun.value_or("failed"), folder_ / "test.1.er");
  EXPECT_TRUE(told.starts_with("the constructors of its libraries run first")) << told;
  ASSERT_EQ(kill(late, SIGKILL), 0);
  EXPECT_EQ(waitpid(late, nullptr, 0), late);
}

// A debugger may hold a program that it has launched for longer than the program has to begin.
TEST_F(LeftBehind, TimeInWhichTheProgramIsStoppedDoesNotCount) {
  const pid_t held = fork();
  if (held == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  ASSERT_GT(held, 0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(held), &info, WSTOPPED | WNOWAIT), 0);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    make(1, format::State::armed, 7, held);
  });
  constexpr unsigned kLimitMs = 50;
  const auto begun =
      injector::ask_to_record({settings_.stem, settings_.session, held}, kLimitMs, {}, {});
  EXPECT_EQ(begun.value_or("failed"), folder_ / "test.1.er");
  ASSERT_EQ(kill(held, SIGCONT), 0);
  EXPECT_EQ(waitpid(held, nullptr, 0), held);
}

// A process has mapped the page of its experiment from before the recording begins.
TEST_F(LeftBehind, WhatIsBeingWrittenIsNotOverwritten) {
  using format::State;
  settings_.values[format::Setting::number] = 1;
  for (const auto state : {State::none, State::armed, State::recording, State::ended}) {
    const std::string experiment = make(1, state, 7);
    EXPECT_TRUE(existing_experiment(settings_, true)) << static_cast<int>(state);
    const MappedControl page = find_experiment(settings_.stem, settings_.session, getpid()).page;
    ASSERT_TRUE(page);
    const auto old = existing_experiment(settings_, true);
    if (state == State::ended)
      EXPECT_EQ(old.value_or(""), experiment);
    else
      EXPECT_EQ(old ? "" : old.error().what, experiment + " is being recorded");
  }
}

}  // namespace
}  // namespace gnomon::injector
