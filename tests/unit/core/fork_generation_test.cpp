// Numbers of copies of a process's memory: real children, made in every way.
#include "libcollector/core/fork_generation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace gnomon::collector {
namespace {

// What a child runs with; shared with it.
struct Look {
  std::uint32_t generation = 0, again = 0, of_grandchild = 0;
  bool took = false, is_taken = false;
  Claim* claim = nullptr;
};

int look(void* at) {
  auto& seen = *static_cast<Look*>(at);
  seen.generation = fork_generation();
  seen.again = fork_generation();
  if (seen.claim) {
    seen.is_taken = seen.claim->is_taken();
    seen.took = seen.claim->take();
  }
  return 0;
}

Look* shared_look() {
  void* const memory =
      mmap(nullptr, sizeof(Look), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) Look;
}

void await(pid_t child) {
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, __WALL), child);
  ASSERT_EQ(status, 0);
}

// flags: of clone(2).
void run_child(int flags, Look& seen) {
  alignas(16) static std::array<char, 64 * 1024> stack;
  await(clone(look, stack.data() + stack.size(), flags | SIGCHLD, &seen));
}

TEST(ForkGeneration, IsTheSameEachTime) {
  EXPECT_NE(fork_generation(), 0U);
  EXPECT_EQ(fork_generation(), fork_generation());
}

TEST(ForkGeneration, OfForkChildrenDiffersFromAllAncestors) {
  Look& child = *shared_look();
  const std::uint32_t own = fork_generation();
  const pid_t pid = fork();
  if (pid == 0) {
    look(&child);
    Look& grandchild = *shared_look();
    run_child(0, grandchild);
    child.of_grandchild = grandchild.generation;
    _exit(0);
  }
  await(pid);
  EXPECT_NE(child.generation, own);
  EXPECT_EQ(child.again, child.generation);
  EXPECT_NE(child.of_grandchild, own);
  EXPECT_NE(child.of_grandchild, child.generation);
  EXPECT_EQ(fork_generation(), own);
}

// The child makes another before it has looked itself.
TEST(ForkGeneration, DiffersThoughNobodyLookedBetween) {
  Look& grandchild = *shared_look();
  const std::uint32_t own = fork_generation();
  const pid_t pid = fork();
  if (pid == 0) {
    run_child(0, grandchild);
    _exit(fork_generation() == own ? 1 : 0);
  }
  await(pid);
  EXPECT_NE(grandchild.generation, own);
}

TEST(ForkGeneration, OfAChildThatSharesTheMemoryIsTheSame) {
  Look vforked, beside;
  run_child(CLONE_VM | CLONE_VFORK, vforked);
  run_child(CLONE_VM, beside);
  EXPECT_EQ(vforked.generation, fork_generation());
  EXPECT_EQ(beside.generation, fork_generation());
}

TEST(ForkGeneration, AClaimIsFreeInAForkChildAlone) {
  static constinit Claim claim;
  ASSERT_TRUE(claim.take());
  EXPECT_FALSE(claim.take());
  Look& forked = *shared_look();
  Look sharing;
  forked.claim = sharing.claim = &claim;
  run_child(0, forked);
  run_child(CLONE_VM | CLONE_VFORK, sharing);
  EXPECT_FALSE(forked.is_taken);
  EXPECT_TRUE(forked.took);
  EXPECT_TRUE(sharing.is_taken);
  EXPECT_FALSE(sharing.took);
  EXPECT_TRUE(claim.is_taken());
  claim.give_back();
  EXPECT_FALSE(claim.is_taken());
  EXPECT_TRUE(claim.take());
  claim.give_back();
}

}  // namespace
}  // namespace gnomon::collector
