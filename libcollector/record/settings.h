// What a recording was asked for, at launch or at attach. Plain data, any context.
#pragma once
#include <cstdint>

#include "libcollector/format/settings.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

struct Settings {
  std::uint64_t session = 0;
  format::SettingValues values;
  char stem[ExperimentDirectory::kPathBytes] = {};  // /directory/test of test.N.er
  char executable[ExperimentDirectory::kPathBytes] = {};
  int handed = -1;             // descriptor of the experiment's directory; -1: made from stem
  std::uint32_t seen_pid = 0;  // this process's number in seen_namespace; 0: not known
  char seen_namespace[40] = {};
};

}  // namespace gnomon::collector
