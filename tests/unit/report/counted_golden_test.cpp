// Reports of counters and of what is watched, compared with what is stored in golden/.
#include <functional>

#include "tests/unit/report/fixture.h"
#include "tests/unit/report/golden.h"

using namespace gnomon;

namespace {

using test::kMs;

class CountedGolden : public test::GoldenTest {
 protected:
  static constexpr std::uint64_t kMain = 0x1010, kHalf = 0x1110, kInner = 0x1210, kMake = 0x1410;

  std::string object() override {
    const std::string path = directory_.file("demo");
    const std::vector<test::FixtureFunction> functions{{"main", 0x1000, 0x100},
                                                       {"_ZN4work4halfEm", 0x1100, 0x40},
                                                       {"inner", 0x1200, 0x20},
                                                       {"make", 0x1400, 0x30}};
    return test::write_fixture(path, functions) ? path : "";
  }
  void note(const char* file, const std::function<void(collector::JsonLine&)>& fill) {
    char text[512];
    collector::JsonLine line(test::kSession, text, sizeof text);
    fill(line);
    EXPECT_TRUE(test::write_line(recorder_->directory(), file, line, text));
  }
};

// Events of counters, some of which had to share the processor's, and what was lost of them.
TEST_F(CountedGolden, Counters) {
  using format::Activity;
  const auto counter = [&](std::uint64_t number, const char* name, const char* title,
                           std::uint64_t interval, const char* more) {
    note(format::kCountersFile, [&](collector::JsonLine& line) {
      line.number("counter", number).number("kind", format::kFirstCounter + number);
      line.text("name", name).text("title", title).number("interval", interval);
      if (*more != 0) line.number(more, 2000);
    });
  };
  counter(0, "cycles", "CPU Cycles", 9'999'991, "mhz");
  counter(1, "insts", "Instructions Executed", 9'999'991, "");
  counter(2, "page-faults", "Page Faults", 97, "user_only");
  note(format::kCountersFile, [](collector::JsonLine& line) {
    line.number("counter", 1).number("counted", 50'000'000).number("enabled", 1'000'000'000);
    line.number("running", 620'000'000).number("lost", 2).number("throttled", 3);
  });
  constexpr std::uint8_t kCycles = format::kFirstCounter, kInsts = kCycles + 1,
                         kFaults = kCycles + 2;
  for (int i = 0; i < 3; ++i) count(kCycles, {kInner, kHalf, kMain}, 5 * kMs);
  count(kCycles, {kHalf, kMain}, 5 * kMs);
  count(kInsts, {kInner, kHalf, kMain}, 9'999'991);
  count(kInsts, {kHalf, kMain}, 9'999'991);
  thread_ = 78;
  count(kFaults, {kMake, kMain}, 97);
  count(kFaults, {}, 13, 0, Activity::final_counts);
  count(kInsts, {}, 2UL * 9'999'991, 0, Activity::frozen_counts);
  count(kCycles, {}, kMs, 0, Activity::final_counts);
  log(format::kLogCounters, "brm: no processor here counts that event");
  end(20 * kMs);
  expect("counters.txt",
         {"functions", "functions --metrics e.insts:i.insts:name",
          "functions --metrics e.page-faults:name", "threads", "overview", "calltree", "lines",
          "metric_list", "functions --filter VADDR==0x7000 --metrics e.cycles:name", "header",
          "accesses", "calls", "dump insts"});
}

// Objects that are watched, and a function.
TEST_F(CountedGolden, Touches) {
  using format::Activity;
  const auto watch = [&](std::uint64_t number, const char* what, const char* name,
                         std::uint64_t size, std::uint64_t reads, std::uint64_t interval) {
    note(format::kWatchesFile, [&](collector::JsonLine& line) {
      line.number("watch", number).text("what", what).text("name", name);
      line.hex("address", 0x601040).number("size", size).number("reads", reads);
      line.number("interval", interval).number("time", now_);
    });
  };
  tick({kMain}, 10 * kMs);
  watch(1, "access", "total", 8, 0, 1);
  watch(2, "access", "node->next", 4, 1, 100);
  watch(3, "call", "work::half", 0, 0, 1);
  for (int i = 0; i < 5; ++i) count(format::kAccess, {kInner, kHalf, kMain}, 1, 1);
  count(format::kAccess, {kMake, kMain}, 1, 1);
  count(format::kAccess, {}, 4, 1, Activity::lost);
  count(format::kAccess, {kMake, kMain}, 100, 2);
  thread_ = 78;
  count(format::kCall, {kHalf, kMain}, 1, 3);
  count(format::kCall, {kHalf, kInner, kMain}, 1, 3);
  count(format::kCall, {kHalf, kInner, kMain}, 1, 3);
  note(format::kWatchesFile, [&](collector::JsonLine& line) {
    line.number("watch", 1).number("counted", 10).number("enabled", 1).number("running", 1);
    line.number("lost", 4).number("throttled", 0).number("end", now_);
  });
  end(30 * kMs);
  expect(
      "touches.txt",
      {"accesses", "accesses --by line", "accesses --by stack", "accesses --by thread",
       "accesses --by nothing", "accesses --limit 1", "accesses --format csv", "calls",
       "calls --by stack", "calls --by thread", "calls work::half", "watch total",
       "functions --metrics e.accesses:e.calls:name", "accesses --filter WATCH==2", "functions"});
}

}  // namespace
