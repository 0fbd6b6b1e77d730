// From a sample with a copy of a stack to what stands in the experiment. The process is this one.
#include "libcollector/outside/sample_writer.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "libcollector/core/syscall.h"
#include "libcollector/unwind/registers.h"
#include "tests/unit/experiment/written.h"

namespace gnomon::outside {
namespace {

using format::ThreadState;

// Registers and stack of a thread, as the kernel copies them.
struct Copied {
  Sample sample;
  std::vector<char> stack;
  std::uint64_t caller = 0;     // return address of copy_here()
  std::uint64_t recursion = 0;  // of call_deeper() in itself
};

std::uint64_t end_of_own_stack() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
  }
  return reinterpret_cast<std::uint64_t>(lowest) + size;
}

// By the kernel, because a sanitizer does not let a program read what lies between its variables.
void copy_as_kernel(char* to, std::uint64_t from, std::size_t bytes) {
  const iovec own{to, bytes}, there{reinterpret_cast<void*>(from), bytes};
  const long copied = collector::raw_syscall(SYS_process_vm_readv, getpid(), collector::arg(&own),
                                             1, collector::arg(&there), 1, 0);
  ASSERT_EQ(copied, static_cast<long>(bytes));
}

// most: bytes of the stack.
[[gnu::noinline]] void copy_here(Copied& to, std::size_t most) {
  ucontext_t context;
  getcontext(&context);
  std::memcpy(to.sample.registers, context.uc_mcontext.gregs, sizeof to.sample.registers);
  to.caller = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  const std::uint64_t sp = to.sample.registers[collector::kSavedRsp];
  const std::size_t bytes = std::min<std::size_t>(most, end_of_own_stack() - sp);
  to.stack.resize(bytes);
  copy_as_kernel(to.stack.data(), sp, bytes);
  to.sample.has_registers = true;
  to.sample.stack = to.stack.data();
  to.sample.stack_bytes = bytes;
  to.sample.stack_is_short = bytes < most;
}

// Calls itself so often, and copies the stack. What `then` does with it happens while the frames
// still stand.
[[gnu::noinline]] void call_deeper(int levels, std::size_t most,
                                   const std::function<void(Copied&)>& then) {
  volatile char room[200];
  room[0] = 0;
  if (levels > 0) {
    call_deeper(levels - 1, most, then);
  } else {
    Copied copied;
    copied.recursion = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
    copy_here(copied, most);
    then(copied);
  }
  room[1] = room[0];  // no tail call
}

class SampleWriterTest : public test::Written {
 protected:
  static constexpr std::size_t kWhole = 64 << 10;
  static constexpr std::uint64_t kPeriod = 10'000'000;

  void SetUp() override {
    Written::SetUp();
    objects_.emplace(getpid(), *recorder_);
    ASSERT_TRUE(objects_->read());
    make(256);
  }
  void make(std::uint32_t depth) {
    const auto own = static_cast<std::uint32_t>(getpid());
    writer_.emplace(SampleWriter::Wanted{getpid(), own, kPeriod, depth}, *recorder_, *objects_,
                    *recorder_->control());
    ASSERT_TRUE(writer_->open());
  }
  // Writes a sample of a thread that has called so deep. change: what else is to be so.
  std::optional<SampleWriter::Written> put(
      int levels, std::size_t most, const std::function<void(Sample&)>& change = [](Sample&) {}) {
    std::optional<SampleWriter::Written> written;
    std::thread([&] {
      call_deeper(levels, most, [&](Copied& copied) {
        copied.sample.origin = {1, 5000, static_cast<std::uint32_t>(getpid()), kThread, 3};
        caller_ = copied.caller;
        recursion_ = copied.recursion;
        change(copied.sample);
        written = writer_->put(copied.sample, SampleWriter::Tick{kPeriod, 2, false});
      });
    }).join();
    return written;
  }
  // The frames of a call stack, innermost first; marks of its walk among them.
  std::vector<std::uint64_t> frames_of(std::uint32_t stack) const {
    const auto all = test::read_all(directory_.path());
    EXPECT_TRUE(all);
    std::vector<std::uint64_t> frames;
    if (!all) return frames;
    const reader::Stacks& stacks = all->recording.stacks();
    for (StackId at{stack}; at != StackId::none; at = stacks.parent(at))
      frames.push_back(stacks.node(at).pc);
    return frames;
  }
  std::ptrdiff_t recursions(const std::vector<std::uint64_t>& frames) const {
    return std::ranges::count(frames, recursion_ - 1);
  }
  static bool has_mark(const std::vector<std::uint64_t>& frames, format::WalkEnd end,
                       bool guessed) {
    return std::ranges::count(frames, format::walk_mark(end, guessed)) != 0;
  }

  static constexpr std::uint32_t kThread = 4711;
  std::uint64_t caller_ = 0, recursion_ = 0;
  std::optional<ProcessObjects> objects_;
  std::optional<SampleWriter> writer_;
};

TEST_F(SampleWriterTest, AWholeCopyGivesTheWholeStack) {
  const auto written = put(5, kWhole);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->tick.weight, kPeriod);
  EXPECT_EQ(written->tick.state, ThreadState::user);
  EXPECT_EQ(written->tick.cpu, 3u);
  EXPECT_FALSE(written->copy.is_cut);
  EXPECT_GT(written->copy.used, 6 * 200u);
  const auto frames = frames_of(written->tick.stack);
  EXPECT_EQ(recursions(frames), 5);
  EXPECT_EQ(std::ranges::count(frames, caller_ - 1), 1);
  EXPECT_GT(frames.size(), 8u) << "the thread's own routines";
  EXPECT_EQ(total().value_or(0), kPeriod);
}

TEST_F(SampleWriterTest, TheKernelsPartStandsWithin) {
  const std::uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000020};
  const auto written = put(1, kWhole, [&](Sample& sample) {
    sample.is_of_kernel = true;
    sample.kernel = kernel;
  });
  ASSERT_TRUE(written);
  EXPECT_EQ(written->tick.state, ThreadState::system);
  const auto frames = frames_of(written->tick.stack);
  ASSERT_GT(frames.size(), 4u);
  EXPECT_EQ(frames[0], kernel[0]);
  EXPECT_EQ(frames[1], kernel[1] - 1) << "where the call is";
  EXPECT_EQ(recursions(frames), 1);
}

TEST_F(SampleWriterTest, WhatIsBeyondTheCopyIsReadFromTheProcess) {
  const auto written = put(20, 2048);
  ASSERT_TRUE(written);
  EXPECT_TRUE(written->copy.is_cut);
  const auto frames = frames_of(written->tick.stack);
  EXPECT_EQ(recursions(frames), 20);
  EXPECT_TRUE(has_mark(frames, format::WalkEnd::whole, true));
}

TEST_F(SampleWriterTest, ACopyThatEndsWithTheStackIsNotCut) {
  const auto written = put(3, kWhole);
  ASSERT_TRUE(written);
  EXPECT_FALSE(written->copy.is_cut);
  const auto frames = frames_of(written->tick.stack);
  EXPECT_FALSE(has_mark(frames, format::WalkEnd::beyond_copy, false));
  EXPECT_FALSE(has_mark(frames, format::WalkEnd::foreign_stack, false));
}

TEST_F(SampleWriterTest, NoMoreFramesThanTheDepth) {
  make(4);
  const auto written = put(10, kWhole);
  ASSERT_TRUE(written);
  const auto frames = frames_of(written->tick.stack);
  EXPECT_EQ(recursions(frames), 2) << "and copy_here(), and its call";
}

TEST_F(SampleWriterTest, AThreadWithoutAUserPartHasTheKernelsAlone) {
  Sample sample;
  sample.origin = {1, 5000, static_cast<std::uint32_t>(getpid()), kThread, 0};
  sample.is_of_kernel = true;
  const auto written = writer_->put(sample, SampleWriter::Tick{kPeriod, 1, false});
  ASSERT_TRUE(written);
  EXPECT_EQ(frames_of(written->tick.stack),
            std::vector{format::activity_frame(format::Activity::system)});
}

TEST_F(SampleWriterTest, RestsAndWaitsWithoutAPlaceGetOneThatIsNoCode) {
  writer_->put(Rest{kThread, 300, ThreadState::user, 0, format::Activity::short_threads}, 6000);
  writer_->put(OffCpu{kThread, ThreadState::sleep, 0, 9000, 2000, 2000});
  EXPECT_EQ(total().value_or(0), 300u) << "a wait is no CPU time";
}

TEST_F(SampleWriterTest, ANumberThatIsUsedAgainIsAnotherThread) {
  const auto threads = [this] { return recorder_->control()->threads; };
  const auto before = threads();
  ASSERT_TRUE(put(1, kWhole));
  ASSERT_TRUE(put(1, kWhole));
  EXPECT_EQ(threads(), before + 1);
  writer_->forget(kThread);
  ASSERT_TRUE(put(1, kWhole));
  EXPECT_EQ(threads(), before + 2);
}

}  // namespace
}  // namespace gnomon::outside
