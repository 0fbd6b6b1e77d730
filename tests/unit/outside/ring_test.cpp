#include "libcollector/outside/ring.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <thread>

namespace gnomon::outside {
namespace {

// A sample for each 100 us of CPU time of this thread, of 16 bytes.
int sample_this_thread(const Ring& ring) {
  perf_event_attr attributes = common_attributes();
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = 100'000;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.exclude_kernel = 1;
  const int event = open_event(attributes, 0, ring.cpu());
  if (event < 0 || ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) == 0) return event;
  close(event);
  return -1;
}

void use_cpu(double seconds) {
  timespec time{};
  const auto used = [&] {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  for (const double until = used() + seconds; used() < until;)
    for (int i = 0; i < 100'000; ++i) asm volatile("");
}

struct Counted {
  std::uint64_t samples = 0, bytes = 0;
};

Counted read_all(Ring& ring) {
  Counted counted;
  for (ring.look(); ring.front(); ring.pop()) {
    counted.samples += ring.front()->type == PERF_RECORD_SAMPLE;
    counted.bytes += ring.front()->size;
  }
  return counted;
}

// As long as one disk keeps its reader waiting.
TEST(Ring, KeepsMoreThanItsSize) {
  static Rings rings;  // for keep_emptying(), which does not return
  const int cpu = sched_getcpu();
  if (rings.emplace_back().open(cpu, 16 << 10, 1 << 20) != 0)
    GTEST_SKIP() << "the kernel gives no rings of events";
  Ring& ring = rings.front();
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  const int event = sample_this_thread(ring);
  if (event < 0 || sched_setaffinity(0, sizeof one, &one) != 0)
    GTEST_SKIP() << "the kernel gives no rings of events";
  const int wake = eventfd(0, EFD_NONBLOCK);

  use_cpu(0.5);
  EXPECT_LE(read_all(ring).bytes, ring.bytes());
  std::thread([wake] {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int each = 0; each < CPU_SETSIZE; ++each) CPU_SET(each, &all);
    sched_setaffinity(0, sizeof all, &all);
    keep_emptying(rings, wake);
  }).detach();
  use_cpu(0.5);
  const Counted counted = read_all(ring);
  EXPECT_GT(counted.bytes, 2 * ring.bytes());
  eventfd_t woken = 0;
  EXPECT_EQ(eventfd_read(wake, &woken), 0);
  EXPECT_GE(woken, 4u);

  close(event);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace gnomon::outside
