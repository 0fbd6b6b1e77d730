// Reports down to lines and instructions, on the program of targets/lines.
#include "tests/unit/report/golden.h"

using namespace gnomon;

namespace {

using test::kMs;

// Instructions of lines.s; callers are inside the call.
constexpr std::uint64_t kSpreadLoad = 0x10010, kInlinedTwice = 0x10023, kInlinedOnce = 0x1003b,
                        kSpreadAdd = 0x10046, kVisitCalls = 0x10067, kVisitAdds = 0x10068,
                        kWorkCallsVisit = 0x100a0, kWorkCallsSpread = 0x100b0, kBare = 0x100bd;

class GoldenLines : public test::GoldenTest {
 protected:
  std::string object() override { return GNOMON_TARGETS "/lines.so"; }

  void SetUp() override {
    GoldenTest::SetUp();
    tick({kInlinedTwice, kWorkCallsSpread}, 40 * kMs);
    tick({kInlinedOnce, kWorkCallsSpread}, 20 * kMs);
    tick({kSpreadAdd, kWorkCallsSpread}, 10 * kMs);
    tick({kSpreadLoad, kVisitCalls, kVisitCalls, kWorkCallsVisit}, 5 * kMs);
    tick({kVisitAdds, kVisitCalls, kWorkCallsVisit}, 5 * kMs);
    tick({kBare}, 20 * kMs, true);
    end(100 * kMs);
  }
};

TEST_F(GoldenLines, Lists) {
  expect("lines.txt",
         {"functions", "lines", "lines --limit 2", "lines --sort i.totalcpu", "lines --format csv",
          "pcs", "pcs --metrics address:e.totalcpu --sort address", "pcs --format json"});
}

// The source is recorded as /src/lines.c, where it is not.
TEST_F(GoldenLines, Source) {
  const std::string sources = GNOMON_SOURCE "/tests/targets/lines";
  expect("source.txt",
         {"source visit", "pathmap /src " + sources, "source visit", "source spread", "sthresh 10",
          "source lines.c", "source lines.c --format json --metrics i.totalcpu", "source bare",
          "source <Truncated-stack>", "source nowhere.c", "pathmap /src", "sthresh 101",
          "setpath " + sources + ":/nowhere", "addpath /tmp"});
}

TEST_F(GoldenLines, Summaries) {
  expect("summaries.txt", {"fsummary", "fsingle visit", "fsingle spread --format json",
                           "lsummary --limit 2", "psummary --limit 2", "fsingle nowhere"});
}

}  // namespace
