// A process whose tracer has lost it is known as such, and runs on: no stop of the tracer's is left
// in it. Both are children of this one.
#include "injector/attach/checks/lost_process.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>

#include "tests/unit/attach/child.h"

namespace {

using namespace gnomon::injector;

constexpr int kRightStatus = 42;

void wait_for(const std::atomic<int>& flag) {
  while (!flag) usleep(1000);
}

// Until it is told to go on.
int waits(Shared& shared) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  shared.step = 1;
  wait_for(shared.go_on);
  return kRightStatus;
}

TEST(LostProcess, IsNotStoppedByWhatAThreadHasStillToTake) {
  Child child([](Shared& shared) {
    const long other = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (other == 0) {
      wait_for(shared.go_on);
      _exit(0);
    }
    waitpid(static_cast<pid_t>(other), nullptr, 0);
    return kRightStatus;
  });
  ASSERT_GT(child.pid(), 0);
  ASSERT_TRUE(child.comes_to([&] { return state_of(child.pid(), child.pid()) == 'D'; }));
  ASSERT_EQ(syscall(SYS_tgkill, child.pid(), child.pid(), SIGSTOP), 0);
  let_go_on(child.pid());
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRightStatus);
}

TEST(LostProcess, IsNotStoppedByWhatAThreadHasTakenWhileItWasTraced) {
  Child child(waits);
  ASSERT_GT(child.pid(), 0);
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step == 1; }));
  Child tracer([&](Shared& shared) {
    if (ptrace(PTRACE_ATTACH, child.pid(), nullptr, nullptr) != 0) return 1;
    if (waitpid(child.pid(), nullptr, __WALL) != child.pid()) return 2;
    shared.step = 1;
    wait_for(shared.go_on);
    return 0;
  });
  ASSERT_TRUE(tracer.comes_to([&] { return tracer.shared().step == 1 || tracer.has_ended(); }));
  EXPECT_EQ(tracer_of(child.pid()), tracer.pid());
  tracer.shared().go_on = 1;
  let_go_on(child.pid());
  EXPECT_EQ(tracer.end(), 0);
  child.shared().go_on = 1;
  EXPECT_EQ(child.end(), kRightStatus);
}

// As two threads of one process: the second one ends as the first one executes, and its tracer does
// not let it.
int executes_beside_another(Shared& shared) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::thread ends([&] {
    shared.step = static_cast<int>(gettid());
    for (;;) pause();
  });
  std::thread executes([&] {
    wait_for(shared.go_on);
    execl("/bin/sh", "sh", "-c", "exit 42", nullptr);
  });
  executes.join();
  return 1;
}

TEST(LostProcess, IsHeldByAnExecThatCannotComeToItsEnd) {
  Child child(executes_beside_another);
  ASSERT_GT(child.pid(), 0);
  ASSERT_TRUE(child.comes_to([&] { return child.shared().step != 0; }));
  EXPECT_FALSE(is_held_by_exec(child.pid()));
  Child tracer([&](Shared& shared) {
    const int ending = child.shared().step;
    if (ptrace(PTRACE_SEIZE, ending, nullptr, PTRACE_O_TRACEEXIT) != 0) return 1;
    child.shared().go_on = 1;
    wait_for(shared.go_on);
    return 0;
  });
  EXPECT_TRUE(child.comes_to([&] { return is_held_by_exec(child.pid()) || tracer.has_ended(); }));
  EXPECT_FALSE(tracer.has_ended());
  tracer.shared().go_on = 1;
  EXPECT_EQ(tracer.end(), 0);
  EXPECT_EQ(child.end(), kRightStatus);
}

}  // namespace
