// A thread of another process that was stopped goes on as if it had not been: its waits, its
// signals and its mask. The other process is a child of this one.
#include "injector/attach/thread/traced_thread.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>

#include "injector/attach/gate/gate.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/remote/remote_symbols.h"
#include "injector/attach/remote/waiting.h"
#include "tests/unit/attach/child.h"

namespace {

using namespace gnomon::injector;
using namespace std::chrono_literals;

constexpr std::uint64_t kTrap = 1ull << (SIGTRAP - 1);
constexpr int kRight = 42;

Shared* shared_page = nullptr;  // in the child
void handle(int signal) {
  const auto count = [](int) { ++shared_page->handled; };
  struct sigaction action {};
  action.sa_handler = count;
  sigaction(signal, &action, nullptr);
}

// The thread itself can say it of any signal, as the kernel does.
void come_to_breakpoint() {
  siginfo_t info{};
  info.si_signo = SIGTRAP;
  info.si_code = TRAP_HWBKPT;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info);
}

[[gnu::noipa]] void passes(Shared& shared) { shared.step.fetch_add(1); }
std::uint64_t address_of_passes() { return reinterpret_cast<std::uint64_t>(&passes); }

int pass_on(Shared& shared) {
  while (shared.go_on == 0) passes(shared);
  return kRight;
}

TEST(TracedThread, RunsToAnAddress) {
  Child child(pass_on);
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step > 0; }));
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(thread->run_to(address_of_passes(), 10s));
    EXPECT_EQ(thread->stopped().rip(), address_of_passes());
  }
  EXPECT_FALSE(
      thread->run_to(reinterpret_cast<std::uint64_t>(&handle), 5ms));  // it never calls this
  thread->release();
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRight);
}

// It stands at its breakpoint when it is stopped for another reason.
TEST(TracedThread, TrapOfABreakpointIsNotLeftBehind) {
  Child child([](Shared& shared) {
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, nullptr);
    come_to_breakpoint();
    shared.step = 1;
    while (shared.go_on == 0) {
    }
    return kRight;
  });
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step == 1; }));
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  ASSERT_TRUE(thread->set_mask(0));
  thread->release();
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRight);
}

TEST(TracedThread, TrapElsewhereIsNotHandedOn) {
  if (!TracedThread::debug_registers_work())
    GTEST_SKIP() << "the machine has no breakpoint registers";
  Child child([](Shared& shared) {
    while (shared.go_on == 0) {
    }
    come_to_breakpoint();
    while (shared.go_on == 1) passes(shared);
    return kRight;
  });
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  child.shared().go_on = 1;
  EXPECT_TRUE(thread->run_to(address_of_passes(), 10s));
  thread->release();
  child.shared().go_on = 2;
  EXPECT_EQ(child.end(), kRight);
}

// The kernel takes a trap's signal out of a mask, and its handler away.
TEST(TracedThread, BlockedTrapsStayBlocked) {
  Child child([](Shared& shared) {
    shared_page = &shared;
    handle(SIGTRAP);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    pass_on(shared);
    sigset_t mask;
    struct sigaction action {};
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    sigaction(SIGTRAP, nullptr, &action);
    return sigismember(&mask, SIGTRAP) == 1 && action.sa_handler != SIG_DFL ? kRight : 1;
  });
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step > 0; }));
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  const auto mask = thread->mask();
  ASSERT_TRUE(mask && *mask & kTrap);
  EXPECT_TRUE(thread->run_to(address_of_passes(), 10s));
  EXPECT_EQ(thread->mask(), mask);
  thread->release();
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRight);
}

TEST(TracedThread, OneThatIgnoresTrapsDoesNotRunToAny) {
  Child child([](Shared& shared) {
    signal(SIGTRAP, SIG_IGN);
    pass_on(shared);
    return signal(SIGTRAP, SIG_DFL) == SIG_IGN ? kRight : 1;
  });
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step > 0; }));
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  EXPECT_FALSE(thread->run_to(address_of_passes(), 10s));
  thread->release();
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRight);
}

// pushf stores the flag of the step, which the program would put back with popf.
TEST(TracedThread, StepsAreNotSeenByTheProgram) {
  Child child([](Shared& shared) {
    std::uint64_t flags = 0;
    while (shared.go_on == 0 && !(flags & 0x100)) {
      asm volatile("pushfq\n pop %0" : "=r"(flags) : : "memory");
      passes(shared);
    }
    return flags & 0x100 ? 1 : kRight;
  });
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step > 0; }));
  auto thread = TracedThread::stop(child.pid(), child.pid());
  ASSERT_TRUE(thread);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(thread->run_to(address_of_passes(), 10s));
  thread->release();
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRight);
}

// A thread that waits makes a call for us; nothing, or a signal, comes meanwhile.
int end_of_wait(const std::function<int(Shared&)>& what, long number, bool is_signalled) {
  Child child([&](Shared& shared) {
    shared_page = &shared;
    handle(SIGUSR1);
    return what(shared);
  });
  if (!child.comes_to_call(number)) return 1;
  auto thread = TracedThread::stop(child.pid(), child.pid());
  if (!thread || !thread->waits()) return 2;
  if (thread->call(find_system_call_instruction(child.pid()), SYS_getpid, {}) != child.pid())
    return 3;
  if (is_signalled && child.pid() > 0) kill(child.pid(), SIGUSR1);
  thread->release();
  if (!is_signalled) {
    if (!child.comes_to_call(number)) return 4;
    if (child.pid() > 0) kill(child.pid(), SIGUSR1);
  }
  return child.end();
}

bool is_interrupted(int result, const Shared& shared) {
  return result == -1 && errno == EINTR && shared.handled == 1;
}
int waits_in_pause(Shared& shared) { return is_interrupted(pause(), shared) ? kRight : 1; }
int waits_in_poll(Shared& shared) {
  return is_interrupted(poll(nullptr, 0, 60'000), shared) ? kRight : 1;
}

TEST(TracedThread, SignalsEndWaits) {
  for (const bool is_signalled : {false, true}) {
    EXPECT_EQ(end_of_wait(waits_in_pause, SYS_pause, is_signalled), kRight);
    EXPECT_EQ(end_of_wait(waits_in_poll, SYS_poll, is_signalled), kRight);
  }
}

// A thread that waits in poll goes through the gate; in place of pthread_create is what has signals
// come for it there.
int begin_nothing(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  syscall(SYS_tgkill, getpid(), gettid(), SIGPROF);
  return EAGAIN;
}
int begin_nothing_but_signals(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* data) {
  syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
  return begin_nothing(thread, attributes, function, data);
}

struct GateRoom {
  GateRoom() {
    const auto room = [](std::uint64_t bytes, int access) {
      return mmap(nullptr, bytes, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    };
    gate = static_cast<Gate*>(room(kGateBytes, PROT_READ | PROT_WRITE));
    code = room(kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  }
  ~GateRoom() {
    munmap(gate, kGateBytes);
    munmap(code, kCodeBytes);
  }
  GateRoom(const GateRoom&) = delete;
  GateRoom& operator=(const GateRoom&) = delete;
  Gate* gate;
  void* code;
};

// Handled, and how poll ended: 42 by what it waited for, else by errno.
struct PollEnd {
  int handled, how;
};
PollEnd through_gate(int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*),
                     bool may_restart) {
  GateRoom room;
  int ends[2];
  if (pipe(ends) != 0) return {};
  Child child([&](Shared& shared) {
    shared_page = &shared;
    handle(SIGPROF);
    handle(SIGUSR1);
    pollfd one{ends[0], POLLIN, 0};
    return poll(&one, 1, 60'000) == 1 ? kRight : errno;
  });
  auto thread = child.comes_to_call(SYS_poll) ? TracedThread::stop(child.pid(), child.pid())
                                              : std::optional<TracedThread>();
  if (!thread) return {};
  room.gate->create = reinterpret_cast<std::uint64_t>(create);
  room.gate->all_signals = ~0ull;
  room.gate->turns = 1;
  room.gate->caught = number_in(proc_text(child.pid(), "status"), "SigCgt", 16).value_or(0);
  room.gate->restart = may_restart ? restart_number(thread->stopped()) : 0;
  const auto gate_at = reinterpret_cast<std::uint64_t>(room.gate),
             code_at = reinterpret_cast<std::uint64_t>(room.code);
  const auto code = gate_code(gate_at, thread->stopped().rsp(), thread->resume().rip);
  std::memcpy(room.code, code.data(), code.size());
  thread->send(code_at, gate_at + kGateBytes - 64);
  thread->release();
  child.comes_to([&] { return std::atomic_ref(room.gate->left).load() == 1; });
  const bool waits = child.comes_to_call(SYS_poll);
  if (waits && write(ends[1], "x", 1) != 1) return {};
  const int how = child.end();
  close(ends[0]);
  close(ends[1]);
  return {child.shared().handled, how};
}

TEST(Gate, ATickInItDoesNotEndAWait) {
  const auto [handled, how] = through_gate(begin_nothing, true);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(how, kRight);
}

TEST(Gate, WithoutTheNumberItDoes) {
  const auto [handled, how] = through_gate(begin_nothing, false);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(how, EINTR);
}

// Whose end it must be, nobody can tell.
TEST(Gate, AnotherSignalInItDoes) {
  const auto [handled, how] = through_gate(begin_nothing_but_signals, true);
  EXPECT_EQ(handled, 2);
  EXPECT_EQ(how, EINTR);
}

}  // namespace
