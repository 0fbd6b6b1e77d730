// What an experiment is recorded with, and where it goes. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

struct Settings {
  std::string library;  // real path of libcollector.so
  std::string stem;     // /directory/test of test.N.er
  std::uint64_t session = 0;
  std::uint64_t interval_ns = 0;
  std::uint64_t sample_period_ns = 1'000'000'000;  // 0: no periodic samples
};

// For a new session with experiments in `directory`. libcollector.so is looked for in `folders`, in
// this order. A fault: nothing can be recorded from here.
Result<Settings> new_settings(std::span<const std::string> folders, const std::string& directory);

}  // namespace gnomon::injector
