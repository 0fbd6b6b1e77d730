// What threads wait for at a stop: circles, names of functions, where locks begin.
#include "commands/host/blocked.h"

#include <gtest/gtest.h>

#include "libcollector/format/events.h"

namespace gnomon {
namespace {

using commands::Blocked;
using commands::Waiting;

Waiting waiting(std::uint32_t index, const char* what, std::uint32_t holder) {
  Waiting each;
  each.index = index;
  each.thread = 100 + index;
  each.what = what;
  if (holder != 0) {
    each.holder = 100 + holder;
    each.holder_index = holder;
  }
  each.place = "work at a.c:3";
  return each;
}

std::uint64_t kind(format::WaitKind wanted) { return static_cast<std::uint64_t>(wanted); }

TEST(Blocked, SaysWhoIsInACircle) {
  Blocked blocked;
  blocked.threads = 7;
  blocked.waiting = {waiting(1, "the end of thread #2", 2),
                     waiting(3, "mutex a", 2),
                     waiting(2, "mutex b", 3),
                     waiting(4, "mutex c", 4),
                     waiting(5, "poll", 0),
                     waiting(6, "mutex d", 9)};
  blocked.waiting.front().is_end = true;
  const reader::Table table = commands::blocked_table(blocked);
  EXPECT_EQ(table.title, "6 of 7 threads wait");
  ASSERT_EQ(table.notes.size(), 2u);
  EXPECT_EQ(table.notes[0],
            "Deadlock: thread #2 waits for mutex b, which thread #3 has; thread #3 waits for mutex "
            "a, which thread #2 has.");
  EXPECT_EQ(table.notes[1], "Deadlock: thread #4 waits for mutex c, which it has itself.");
  EXPECT_EQ(table.rows.size(), 6u);
}

TEST(Blocked, EndOfAThreadInACircle) {
  Blocked blocked;
  blocked.waiting = {waiting(1, "the end of thread #2", 2), waiting(2, "mutex b", 1)};
  blocked.waiting.front().is_end = true;
  const reader::Table table = commands::blocked_table(blocked);
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_EQ(table.notes[0],
            "Deadlock: thread #1 waits for the end of thread #2; thread #2 waits for mutex b, "
            "which thread #1 has.");
}

TEST(Blocked, NoCircle) {
  Blocked blocked;
  blocked.waiting = {waiting(1, "mutex a", 2), waiting(2, "mutex b", 3), waiting(3, "poll", 0)};
  EXPECT_TRUE(commands::blocked_table(blocked).notes.empty());
}

TEST(Blocked, NamesOfFunctions) {
  using format::WaitKind;
  const std::pair<const char*, WaitKind> known[] = {
      {"___pthread_mutex_lock", WaitKind::mutex},
      {"__GI___pthread_mutex_lock", WaitKind::mutex},
      {"pthread_mutex_timedlock", WaitKind::mutex},
      {"__pthread_rwlock_rdlock_full64", WaitKind::read_lock},
      {"__new_sem_wait_slow64", WaitKind::semaphore},
      {"___pthread_cond_clockwait64", WaitKind::condition},
      {"__pthread_clockjoin_ex", WaitKind::join},
      {"pthread_spin_lock", WaitKind::spin_lock},
      {"__pthread_barrier_wait", WaitKind::barrier},
      {"mtx_lock", WaitKind::mutex}};
  for (const auto& [function, wanted] : known)
    EXPECT_EQ(commands::wait_kind_of(function), kind(wanted)) << function;
  for (const char* const other : {"pthread_mutex_unlock", "my_pthread_mutex_lock", "poll", ""})
    EXPECT_EQ(commands::wait_kind_of(other), 0u) << other;
}

TEST(Blocked, NamesAsTheyAreCalled) {
  for (const char* const name : {"__GI___libc_read", "__libc_read", "_read", "__read", "read"})
    EXPECT_EQ(commands::called_name(name), "read") << name;
  EXPECT_EQ(commands::called_name("_"), "_");
}

}  // namespace
}  // namespace gnomon
