// Waits that a tick has broken: which begin anew, and which do not.
#include "libcollector/clock/interrupted_wait.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "libcollector/clock/program_action.h"

namespace gnomon::collector {

// The program of this test has no action of its own for SIGPROF.
void exchange_program_action(const struct sigaction*, struct sigaction* old) {
  if (old) *old = {};
}

namespace {

using Bytes = std::vector<unsigned char>;

// Code that ends with a system call.
class Code {
 public:
  explicit Code(const Bytes& end) {
    bytes_.fill(0x90);
    std::copy(end.begin(), end.end(), bytes_.end() - static_cast<std::ptrdiff_t>(end.size()) - 2);
    bytes_[bytes_.size() - 2] = 0x0f;
    bytes_[bytes_.size() - 1] = 0x05;
  }
  const unsigned char* next() const { return bytes_.data() + bytes_.size(); }

 private:
  std::array<unsigned char, 64> bytes_;
};

Bytes with_number(int number) {
  return {0xb8, static_cast<unsigned char>(number), static_cast<unsigned char>(number >> 8), 0, 0};
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Bytes kLoadRdi = {0x48, 0x8b, 0x7c, 0x24, 0x08}, kLoadEdi = {0x8b, 0x7c, 0x24, 0x1c};

struct Interrupted {
  explicit Interrupted(int number, long result = -EINTR, bool before = false)
      : code(with_number(number)) {
    context.uc_mcontext.gregs[REG_RAX] = result;
    context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(code.next()) - (before ? 2 : 0);
  }
  // The number that it is about to call; -1: it goes on.
  long called() {
    restart_wait(context);
    const auto& registers = context.uc_mcontext.gregs;
    const bool calls = registers[REG_RIP] == reinterpret_cast<greg_t>(code.next()) - 2;
    return calls ? static_cast<long>(registers[REG_RAX]) : -1;
  }
  Code code;
  ucontext_t context{};
};

TEST(BrokenWait, NumberStandsBeforeTheCall) {
  EXPECT_EQ(call_before(Code(with_number(7)).next()), 7);
  EXPECT_EQ(call_before(Code(with_number(0x119)).next()), 0x119);
  EXPECT_EQ(call_before(Code(with_number(0x46) + kLoadEdi).next()), 0x46);
  EXPECT_EQ(call_before(Code(with_number(0x10e) + kLoadRdi + kLoadEdi).next()), 0x10e);
}

TEST(BrokenWait, NumberIsNotGuessed) {
  EXPECT_EQ(call_before(Code({}).next()), -1);
  EXPECT_EQ(call_before(Code(Bytes{0x41} + with_number(7)).next()), -1);  // to r8d
  EXPECT_EQ(call_before(Code(with_number(7) + Bytes{0x90}).next()), -1);
  EXPECT_EQ(call_before(Code({0xb8, 7, 0, 1, 0}).next()), -1);
  const Code code(with_number(7));
  EXPECT_EQ(call_before(code.next() - 1), -1);
}

TEST(BrokenWait, BeginsAnew) {
  for (const long number : {SYS_poll, SYS_pselect6, SYS_epoll_wait, SYS_clock_nanosleep, SYS_futex})
    EXPECT_EQ(Interrupted(static_cast<int>(number)).called(), number);
}

// As a debugger's stop has left it.
TEST(BrokenWait, RestartBeginsAnew) {
  EXPECT_EQ(Interrupted(SYS_poll, SYS_restart_syscall, true).called(), SYS_poll);
}

TEST(BrokenWait, OthersGoOn) {
  EXPECT_EQ(Interrupted(SYS_close).called(), -1);
  EXPECT_EQ(Interrupted(SYS_poll, 1).called(), -1);
  EXPECT_EQ(Interrupted(SYS_poll, -EAGAIN).called(), -1);
}

TEST(BrokenWait, SleepWhoseRestIsAskedForEnds) {
  Interrupted sleep(SYS_nanosleep);
  sleep.context.uc_mcontext.gregs[REG_RDI] = 4096;
  sleep.context.uc_mcontext.gregs[REG_RSI] = 8192;
  EXPECT_EQ(sleep.called(), -1);
  sleep.context.uc_mcontext.gregs[REG_RSI] = 4096;
  EXPECT_EQ(sleep.called(), SYS_nanosleep);
}

TEST(BrokenWait, HandlersOfTheProgram) {
  struct sigaction handler {
  }, before{};
  handler.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &handler, &before), 0);
  EXPECT_EQ(Interrupted(SYS_poll).called(), -1);
  Interrupted blocks(SYS_poll);
  sigaddset(&blocks.context.uc_sigmask, SIGALRM);
  EXPECT_EQ(blocks.called(), SYS_poll);
  Interrupted lets_through(SYS_ppoll);
  sigaddset(&lets_through.context.uc_sigmask, SIGALRM);
  EXPECT_EQ(lets_through.called(), -1);
  ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
}

}  // namespace
}  // namespace gnomon::collector
