// What users type as the value of a setting. Any thread.
#pragma once
#include <string>
#include <string_view>

#include "commands/collect/collect_settings.h"
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
Result<void> set_directory(const std::string& word, CollectSettings& settings);
Result<void> set_experiment(const std::string& word, CollectSettings& settings);
Result<void> set_group(const std::string& word, CollectSettings& settings);

}  // namespace gnomon::commands
