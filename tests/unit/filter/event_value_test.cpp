// What expressions over the properties of events are worth.
#include "reader/filter/event_value.h"

#include <gtest/gtest.h>

#include "reader/analysis/analysis_cache.h"
#include "tests/unit/experiment/written.h"

using namespace gnomon;
using namespace gnomon::reader;

namespace {

class EventValues : public test::Written {
 protected:
  // Whether the only event fits.
  testing::AssertionResult fits(const std::string& text) {
    AnalysisCache cache;
    const auto analysis = cache.get({directory_.path()}, {{}, text, {}}, {}, {});
    if (!analysis) return testing::AssertionFailure() << text << ": " << sentence(analysis.error());
    if ((*analysis)->first().events_of_span() != 1)
      return testing::AssertionFailure() << "no event";
    return (*analysis)->first().events_that_fit() == 1 ? testing::AssertionSuccess()
                                                       : testing::AssertionFailure() << text;
  }
};

TEST_F(EventValues, AsInC) {
  sample(0x1500, 10'000'000);
  recorder_->end(2000, 0);
  for (const char* text : {"1",
                           "true",
                           "TRUE",
                           "1 + 2 * 3 == 7",
                           "(1 + 2) * 3 == 9",
                           "10 - 4 - 3 == 3",
                           "-7 / 2 == -3",
                           "-7 % 4 == -3",
                           "5 / 0 == 0",
                           "5 % 0 == 0",
                           "1 << 4 == 16",
                           "256 >> 4 == 16",
                           "1 << 64 == 0",
                           "0x10 == 16",
                           "010 == 8",
                           "1s == 1000ms && 1ms == 1000us && 1us == 1000ns",
                           "~0 == -1",
                           "!0",
                           "!!5 == 1",
                           "- -3 == 3",
                           "7 & 3 == 3",
                           "(6 & 3) == 2",
                           "6 | 1",
                           "6 ^ 6 || 1",
                           "1 || 0 && 0",
                           "0 ? 0 : 1 ? 2 : 0",
                           "1 < 2 == 1",
                           "3 IN (1, 2, 3)",
                           "(1, 2) in (1, 2, 3)",
                           "(1, 9) some in (1, 2, 3)",
                           "(2, 3) Ordered  In (1, 2, 3)",
                           "THRID IN (THRID, 5)",
                           "NTICK_NSEC == 10ms",
                           "NTICK_USEC == 10000",
                           "ntick_usec == 10000",
                           "EXPID == 1 && EXPGRID == 1",
                           "HASPROP(STACK) && !HASPROP(HSIZE)",
                           "LEAF IN STACK",
                           "LEAF SOME IN STACK",
                           "(1, HSIZE) IN (1) || 1",
                           "0 && HSIZE ? 0 : 1",
                           "PID == PID"})
    EXPECT_TRUE(fits(text));
  for (const char* text :
       {"0", "FALSE", "1 + 2 * 3 == 9", "6 & 3 == 2", "!5", "(1, 2, 4) IN (1, 2, 3)",
        "(8, 9) SOME IN (1, 2, 3)", "(1, 3) ORDERED IN (1, 2, 3)", "(3, 2) ORDERED IN (1, 2, 3)",
        "NTICK_NSEC > 10ms", "FNAME(\"nobody\") SOME IN STACK", "TNAME(nobody) SOME IN THRID",
        "1 ? 0 : 1", "1 && 0"})
    EXPECT_FALSE(fits(text));
}

// An event without the property is neither in nor out.
TEST_F(EventValues, WithoutTheProperty) {
  sample(0x1500, 10'000'000);
  recorder_->end(2000, 0);
  for (const char* text : {"HSIZE", "!HSIZE", "HSIZE == HSIZE", "HSIZE || 0", "!(HSIZE && 1)",
                           "HSIZE IN (1, 2)", "HSIZE ? 1 : 1", "-HSIZE == 5"})
    EXPECT_FALSE(fits(text));
  for (const char* text : {"HSIZE || 1", "!(HSIZE && 0)", "1 || HSIZE"}) EXPECT_TRUE(fits(text));
}

TEST_F(EventValues, TooMuch) {
  sample(0x1500, 10'000'000);
  recorder_->end(2000, 0);
  std::string chain = "1", nested = "1", signs(5000, '!'), list = "0";
  for (int i = 0; i < 5000; ++i) {
    chain += "+1";
    if (i < 200) nested.insert(0, "(").append(")");
    list += "," + std::to_string(i);
  }
  for (const std::string& text : {chain, nested, signs + "1", "1 IN (" + std::string(1 << 20, '1')})
    EXPECT_FALSE(parse_expression(text)) << text.substr(0, 20);
  EXPECT_TRUE(fits("4999 IN (" + list + ")"));
}

}  // namespace
