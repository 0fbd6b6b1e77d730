// What a user has chosen for recordings to come. Any thread.
#pragma once
#include <string>
#include <vector>

#include "libcollector/format/settings.h"

namespace gnomon::commands {

struct CollectSettings {
  format::SettingValues values;
  std::string directory = ".";
  std::string experiment;  // NAME.er, or a path of one; empty: test.N.er, or the group's name
  std::string group;       // NAME.erg, or a path of one; empty: none
  std::vector<std::string> notes;
  std::vector<std::string> counter_words;  // what is to be counted, as the user has named it
  std::string counters;                    // likewise, in the text of format/counters.h
  bool has_chosen_clock = false;           // profile was set, so counters leave it as it is
  bool samples_at_stops = true;            // of a debugger
};

}  // namespace gnomon::commands
