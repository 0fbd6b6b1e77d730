#include "libcollector/outside/process_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace gnomon::outside {
namespace {

// Of this user's own process, which nothing keeps from being sampled.
Rights of_own() {
  Rights rights;
  rights.user = rights.own_user = "1000\t1000\t1000\t1000";
  rights.threads = 3000;
  rights.cpus = 64;
  rights.descriptors = 1024;
  return rights;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The kernel answers all of these by EACCES.
TEST(Refusal, NamesWhatKeepsTheUserFromTheProcess) {
  Rights paranoid = of_own();
  paranoid.paranoid = 3;
  EXPECT_TRUE(says(refusal_of_events(EACCES, paranoid), "kernel.perf_event_paranoid is 3"));
  paranoid.is_privileged = true;
  EXPECT_FALSE(says(refusal_of_events(EACCES, paranoid), "paranoid"));
  Rights others = of_own();
  others.user = "0\t0\t0\t0";
  EXPECT_TRUE(says(refusal_of_events(EACCES, others), "another user's"));
  others.is_in_namespace = true;
  EXPECT_TRUE(says(refusal_of_events(EACCES, others), "another user namespace"));
  Rights closed = of_own();
  closed.is_open = false;
  EXPECT_TRUE(says(refusal_of_events(EACCES, closed), "PR_SET_DUMPABLE"));
  Rights capable = of_own();
  capable.has_more = true;
  EXPECT_TRUE(says(refusal_of_events(EACCES, capable), "capabilities"));
  EXPECT_TRUE(says(refusal_of_events(EACCES, of_own()), "Permission denied"));
}

TEST(Refusal, NamesLimitsAndFilters) {
  const std::string files = refusal_of_events(EMFILE, of_own());
  EXPECT_TRUE(says(files, "3000 threads on 64 CPUs need 192000")) << files;
  EXPECT_TRUE(says(files, "may have 1024")) << files;
  Rights filtered = of_own();
  filtered.is_filtered = true;
  EXPECT_TRUE(says(refusal_of_events(EPERM, filtered), "filter of system calls"));
  EXPECT_TRUE(says(refusal_of_rings(EPERM), "ulimit -l"));
  EXPECT_TRUE(says(refusal_of_events(ENOSYS, of_own()), "no perf events"));
  EXPECT_EQ(refusal_of_events(ESRCH, of_own()), "the process has ended");
}

TEST(Rights, OfThisProcessAreItsOwn) {
  const Rights rights = rights_to(getpid());
  EXPECT_TRUE(rights.is_there);
  EXPECT_EQ(rights.user, rights.own_user);
  EXPECT_FALSE(rights.is_in_namespace);
  EXPECT_FALSE(rights.has_more);
  EXPECT_GE(rights.threads, 1U);
  EXPECT_GE(rights.cpus, 1U);
  EXPECT_FALSE(rights_to(0x7ffffffe).is_there);
}

}  // namespace
}  // namespace gnomon::outside
