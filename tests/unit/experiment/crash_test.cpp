// Crashes: a writer stopped at every instruction, and killed at many, leaves what a reader can
// read.
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <thread>

#include "reader/report/asked/report.h"
#include "tests/unit/experiment/written.h"
#include "tests/unit/thorough.h"

using namespace gnomon;
using namespace gnomon::test;

namespace {

constexpr std::uint64_t kRecordsABlock =
    (format::kBlockBytes - sizeof(format::BlockHeader)) / sizeof(format::ClockSample);
constexpr std::uint64_t kNodesASegment = format::kStackFirstNodes;

// What is stepped through, and how many samples stand before and after it.
struct Phase {
  const char* what;
  std::uint64_t before, after;
};
constexpr std::uint64_t kFull = kRecordsABlock + 1 + kNodesASegment - 3;
constexpr Phase kPhases[] = {
    {"creating the experiment", 0, 0},
    {"new frames in the first block", 0, 1},
    {"known frames", 1, 2},
    {"the first record of another block", kRecordsABlock, kRecordsABlock + 1},
    {"the first node of another segment", kFull, kFull + 1},
    {"closing", kFull + 1, kFull + 1},
};

// The writer. It stops itself before and after each phase.
[[noreturn]] void write_in_phases(const Directory& directory) {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  collector::Recorder* recorder = new_recorder();
  std::uint64_t leaf = 0x1200;
  const auto put = [&](std::uint64_t pc) {
    if (!record(*recorder, {pc, 0x1100}, 1)) _exit(2);
  };
  const auto phase = [](auto work) {
    raise(SIGSTOP);
    work();
    raise(SIGSTOP);
  };
  if (!recorder) _exit(3);
  const std::string header = header_line();
  phase([&] {
    if (!begin_experiment(directory, *recorder, 1, header)) _exit(4);
  });
  phase([&] { put(leaf); });
  phase([&] { put(leaf); });
  for (std::uint64_t i = 2; i < kRecordsABlock; ++i) put(leaf);
  phase([&] { put(leaf); });
  // The empty stack, the outer frame and the first leaf are nodes already.
  for (std::uint64_t i = 3; i < kNodesASegment; ++i) put(++leaf);
  phase([&] { put(++leaf); });
  phase([&] { recorder->end(2000, 1); });
  _exit(0);
}

// Two processes that wait for each other take turns quicker on one CPU.
class OneCpu {
 public:
  OneCpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof before_, &before_);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

class Writer {
 public:
  explicit Writer(const Directory& directory) {
    pid_ = fork();
    if (pid_ == 0) write_in_phases(directory);
  }
  ~Writer() { end(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs on to its next own stop, or one instruction. False: it is at its own stop, or gone.
  void run() { go(PTRACE_CONT); }
  bool step() { return go(PTRACE_SINGLESTEP) == SIGTRAP; }
  std::uint64_t pc() const {
    return static_cast<std::uint64_t>(
        ptrace(PTRACE_PEEKUSER, pid_, offsetof(user_regs_struct, rip), nullptr));
  }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool start() {
    int status = 0;
    return pid_ > 0 && waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status);
  }

 private:
  int go(__ptrace_request how) {
    int status = 0;
    if (ptrace(how, pid_, nullptr, nullptr) != 0 || waitpid(pid_, &status, 0) != pid_) return 0;
    if (WIFSTOPPED(status)) return WSTOPSIG(status);
    ADD_FAILURE() << "the writer ended with status " << status;
    pid_ = 0;
    return 0;
  }
  OneCpu here_;
  pid_t pid_ = 0;
};

// What a reader may meet at an instruction of the phase: as many samples as before it or after it;
// until the experiment has begun, the sentence that it has not.
void look(const Directory& directory, const Phase& phase, std::uint64_t& least) {
  const auto total = total_of(directory.path());
  if (total) {
    EXPECT_GE(*total, least) << phase.what;
    EXPECT_TRUE(*total == phase.before || *total == phase.after) << phase.what << ": " << *total;
    least = *total;
    return;
  }
  const std::string why = sentence(total.error());
  const bool early = phase.after == 0 && (why.find("is not an experiment") != std::string::npos ||
                                          why.find("holds nothing") != std::string::npos);
  EXPECT_TRUE(early) << phase.what << ": " << why;
}

TEST(Crash, EveryInstructionLeavesAReadableExperiment) {
  constexpr int kLoop = 12;  // of a long loop only some rounds are looked at
  const int every = is_thorough() ? 1 : 11;
  Directory directory;
  Writer writer(directory);
  ASSERT_TRUE(writer.start());
  for (const Phase& phase : kPhases) {
    std::uint64_t least = phase.before;
    int steps = 0;
    std::map<std::uint64_t, int> visits;
    for (; writer.step() && !HasFailure(); ++steps)
      if (const int times = ++visits[writer.pc()];
          steps % every == 0 && (times < kLoop || times % kLoop == 0))
        look(directory, phase, least);
    look(directory, phase, least);
    EXPECT_EQ(least, phase.after) << phase.what;
    EXPECT_GT(steps, 100) << phase.what;
    if (HasFailure()) return;
    if (&phase != std::end(kPhases) - 1) writer.run();
  }
  const auto experiment = reader::open_experiment(directory.path());
  ASSERT_TRUE(experiment);
  EXPECT_TRUE(experiment->closed);
  EXPECT_EQ(experiment->control.blocks[0], 2u);
}

TEST(Crash, KilledWritersLeaveReadableExperiments) {
  const int factor = is_thorough() ? 3 : 9;
  for (std::size_t p = 0; p < std::size(kPhases); ++p)
    for (int kill_at = 1, alive = 1; alive; kill_at = kill_at * factor + 7) {
      Directory directory;
      Writer writer(directory);
      ASSERT_TRUE(writer.start());
      for (std::size_t i = 0; i < p; ++i) {
        writer.run();
        writer.run();
      }
      for (int i = 0; i < kill_at && alive; ++i) alive = writer.step();
      writer.end();
      std::uint64_t least = kPhases[p].before;
      look(directory, kPhases[p], least);
      ASSERT_FALSE(HasFailure()) << "killed at instruction " << kill_at;
    }
}

// Threads race for blocks, nodes and writers, and die together.
TEST(Crash, AKilledStormLosesNothingThatWasPublished) {
  constexpr std::uint64_t kThreads = 4;
  auto* done = static_cast<std::atomic<std::uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(done), MAP_FAILED);
  for (const std::uint64_t enough : {100u, 5'000u, 50'000u}) {
    Directory directory;
    *done = 0;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      collector::Recorder* recorder = new_recorder();
      if (!recorder || !begin_experiment(directory, *recorder, kThreads)) _exit(1);
      const auto work = [&] {
        for (std::uint64_t i = 0;; ++i)
          if (record(*recorder, {i % 9001, i % 89, i % 7, 0x1100}, 1)) ++*done;
      };
      for (std::uint64_t t = 1; t < kThreads; ++t) std::thread(work).detach();
      work();
    }
    int status = 0;
    while (*done < enough && waitpid(child, &status, WNOHANG) == 0) usleep(100);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const auto total = total_of(directory.path());
    ASSERT_TRUE(total) << sentence(total.error());
    EXPECT_GE(*total, enough);
    EXPECT_GE(*total, *done);
    EXPECT_LE(*total, *done + kThreads);
  }
  munmap(done, 4096);
}

}  // namespace
