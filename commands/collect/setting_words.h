// What users type as the value of a setting. Any thread.
#pragma once
#include <string>
#include <string_view>

#include "commands/host/collect_settings.h"
#include "reader/base/result.h"

namespace gnomon::commands {

// The value in the setting's own words.
std::string text_of(const format::SettingRow& row, std::uint64_t value);

// Gives a setting the value that `word` means; settings that go with it, too: the delay with the
// duration, `paused` with the pause signal. Returns a warning, a sentence without its stop, or
// nothing. Fault: the word has no meaning here or is out of range; nothing changes.
Result<std::string> set_value(format::Setting setting, std::string_view word,
                              format::SettingValues& values);

// Where experiments go. Fault: no such directory, or a name with another ending.
// Sets what is counted; none: nothing is. text: of format/counters.h, for those words. The clock is
// off with counters and on without, unless it was chosen (dbx, "collector profile").
void set_counters(const std::vector<std::string>& words, const std::string& text,
                  CollectSettings& settings);
// "page-faults,97,insts,1000003"; off: nothing is counted.
std::string counters_shown(const CollectSettings& settings);

Result<void> set_directory(const std::string& word, CollectSettings& settings);
Result<void> set_experiment(const std::string& word, CollectSettings& settings);
Result<void> set_group(const std::string& word, CollectSettings& settings);

}  // namespace gnomon::commands
