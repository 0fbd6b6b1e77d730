// The unit tests. Options of GoogleTest, and --update.
#include "tests/unit/main.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <string>
#include <string_view>

namespace {

// Tells of skipped tests what tests/live/skips.py tells of cases, as --gtest_brief does not.
class SkipTeller : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.skipped()) reason_ = result.message();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Skipped()) return;
    ++count_;
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    while (!reason_.empty() && reason_.back() == '\n') reason_.pop_back();
    printf("%s: SKIPPED: %s\n", name.c_str(), reason_.c_str());
    if (const char* path = getenv("GNOMON_SKIPS"))
      if (FILE* file = fopen(path, "a")) {
        fprintf(file, "unit\t%s\t%s\n", name.c_str(), reason_.c_str());
        fclose(file);
      }
  }
  int count() const { return count_; }

 private:
  std::string reason_;
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // as of the live tests
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--update") gnomon::test::is_update = true;
  setenv("TZ", "UTC", 1);  // of dates in reports
  tzset();
  auto* const skips = new SkipTeller;  // the listeners own it
  testing::UnitTest::GetInstance()->listeners().Append(skips);
  const int status = RUN_ALL_TESTS();
  return status == 0 && skips->count() > 0 ? kSkipped : status;
}
