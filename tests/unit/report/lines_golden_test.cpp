// Reports down to lines and instructions, on the program of targets/lines.
#include "tests/unit/report/golden.h"

using namespace gnomon;

namespace {

using test::kBias, test::kMs;

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
    stop("breakpoint 1.1");
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

// wrapped in twice_and_more in spread.
TEST_F(GoldenLines, Inlines) {
  expect("inlines.txt",
         {"inlines", "source wrapped", "inlines on", "functions", "callers-callees", "calltree",
          "lines", ("pathmap /src " GNOMON_SOURCE "/tests/targets/lines"), "source lines.h",
          "source wrapped", "source spread", "fsingle wrapped", "disasm wrapped", "inlines perhaps",
          "inlines off", "functions --limit 3"});
}

// Of spread and bare nothing is known where decoding ends.
TEST_F(GoldenLines, Disassembly) {
  instructions_.known = {{0x10050, 1, "pushq", "%rbp"},
                         {0x10051, 3, "movq", "%rdi, %rbp"},
                         {0x10054, 1, "pushq", "%rbx"},
                         {0x10055, 3, "movslq", "%esi, %rbx"},
                         {0x10058, 4, "subq", "$0x8, %rsp"},
                         {0x1005c, 2, "testl", "%ebx, %ebx"},
                         {0x1005e, 2, "je", "0x10078"},
                         {0x10060, 3, "leal", "-0x1(%rbx), %esi"},
                         {0x10063, 5, "callq", "0x1010"},
                         {0x10068, 4, "addl", "(%rbp,%rbx,4), %eax"},
                         {0x1006c, 4, "addq", "$0x8, %rsp"},
                         {0x10070, 1, "popq", "%rbx"},
                         {0x10071, 1, "popq", "%rbp"},
                         {0x10072, 1, "retq", ""},
                         {0x10073, 5, "callq", "*0x1f88(%rip)"},
                         {0x10078, 4, "addq", "$0x8, %rsp"},
                         {0x1007c, 5, "movl", "$0x40, %esi"},
                         {0x10081, 1, "popq", "%rbx"},
                         {0x10082, 1, "popq", "%rbp"},
                         {0x10083, 5, "jmp", "0x10000"},
                         {0x100b9, 4, "endbr64", ""}};
  expect("disasm.txt", {("pathmap /src " GNOMON_SOURCE "/tests/targets/lines"), "disasm visit",
                        "disasm visit --format csv", "disasm bare --metrics e.totalcpu",
                        "dthresh 100", "disasm <Truncated-stack>"});
}

// LLDB's frames have the address behind a call.
TEST_F(GoldenLines, Stop) {
  const std::string sources = ("pathmap /src " GNOMON_SOURCE "/tests/targets/lines");
  backtrace_ = {{kBias + kInlinedTwice, true, false, "wrapped", "lines.h:9"},
                {kBias + kInlinedTwice, true, true, "twice_and_more", "lines.c:9"},
                {kBias + kInlinedTwice, false, false, "spread", "lines.c:20"},
                {kBias + kWorkCallsSpread + 1, false, false, "work", "lines.c:40"},
                {0x10, false, false, "_start", ""}};
  expect("stop.txt",
         {sources, "hot", "hot --limit 2 --since 30ms", "hot --format json --limit 1", "where",
          "where --metrics e.ticks --limit 2", "lines --here 2", "inlines", "inlines on", "where",
          "where --format csv", "lines --here=1", "lines --here 1x", "functions --break 2",
          "functions 1 --break", "functions --break 99", "functions --break", "stop-line",
          "stop-line perhaps"});
}

TEST_F(GoldenLines, NoStop) { expect("no_stop.txt", {"where", "lines --here", "hot --limit 1"}); }

TEST_F(GoldenLines, Summaries) {
  expect("summaries.txt",
         {"fsummary", "fsingle visit", "fsingle spread --format json", "lsummary --limit 2",
          "psummary --limit 2", "fsingle nowhere", "doctor --format csv"});
}

// The mapping from addresses to names, on the program of targets/rules.
class GoldenRules : public test::GoldenTest {
 protected:
  std::string object() override { return GNOMON_TARGETS "/rules.so"; }

  void SetUp() override {
    GoldenTest::SetUp();
    constexpr std::uint64_t kSecondHelper = 0x10024, kFailCalls = 0x1002f, kColdCalls = 0x1000d,
                            kCold = 0x10020, kFirstHelper = 0x10040, kAliasedCalls = 0x10064,
                            kGeneratedDivides = 0x100a7, kFast = 0x10050, kResolver = 0x10080,
                            kUnsized = 0x100c0, kLabel = 0x100c3, kStub = 0x1010;
    tick({kSecondHelper, kFailCalls, kColdCalls}, 10 * kMs);
    tick({kCold}, 4 * kMs);
    tick({kFirstHelper, kAliasedCalls}, 10 * kMs);
    tick({kGeneratedDivides}, 10 * kMs);
    tick({kFast}, 3 * kMs);
    tick({kResolver}, 2 * kMs);
    tick({kUnsized}, 6 * kMs);
    tick({kLabel}, 5 * kMs);
    tick({kStub, kFailCalls, kColdCalls}, kMs);
    end(51 * kMs);
  }
};

TEST_F(GoldenRules, Mapping) {
  expect("mapping.txt", {"functions", "calltree", "fsingle alias", "csingle helper", "lines",
                         "csingle outlined", "source outlined"});
}

}  // namespace
