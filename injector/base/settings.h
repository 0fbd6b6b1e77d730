// What an experiment is recorded with, and where it goes. Any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcollector/format/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Where experiments go, as the user says it.
struct Destination {
  std::string directory = ".";
  std::string experiment;  // NAME.er, or a path of one; empty: test.1.er or the group's name
  std::string group;       // NAME.erg, or a path of one; empty: none
};

struct Settings {
  std::string library;  // real path of libcollector.so
  std::string stem;     // /directory/test of test.N.er
  std::uint64_t session = 0;
  format::SettingValues values;
  std::string group;               // the path of the group's file; empty: none
  std::string counters;            // see format/counters.h
  std::vector<std::string> notes;  // lines for the experiment's file `notes`
};

// For a new session with experiments at `place`. libcollector.so is looked for in `folders`, in
// this order. A fault: nothing can be recorded from here, or the place is no such place.
Result<Settings> new_settings(std::span<const std::string> folders, const Destination& place,
                              const format::SettingValues& values);

// The experiment of an exact name, which the settings want to write; empty: it is numbered.
std::string exact_name(const Settings& settings);

}  // namespace gnomon::injector
