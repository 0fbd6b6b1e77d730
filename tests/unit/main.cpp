// The unit tests. Options of GoogleTest, and --update.
#include "tests/unit/main.h"

#include <gtest/gtest.h>

#include <string_view>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--update") gnomon::test::is_update = true;
  return RUN_ALL_TESTS();
}
