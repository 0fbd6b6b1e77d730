// How much a test tries: less where every change waits for it.
#pragma once
#include <cstdlib>
#include <string_view>

namespace gnomon::test {

// Returns true under `./dev check`, which has the time.
inline bool is_thorough() {
  const char* tests = std::getenv("GNOMON_TESTS");
  return tests && std::string_view(tests) == "all";
}

}  // namespace gnomon::test
