// The unit tests. Options of GoogleTest, and --update.
#include "tests/unit/main.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string_view>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--update") gnomon::test::is_update = true;
  setenv("TZ", "UTC", 1);  // of dates in reports
  tzset();
  return RUN_ALL_TESTS();
}
