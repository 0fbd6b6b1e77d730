// The value of a setting in words. Any thread.
#pragma once
#include <string>

#include "libcollector/format/settings.h"

namespace gnomon::reader {

// "10.007 ms", "1 s", "5-10 s", "100 MB", "SIGUSR1", "off", "unlimited", "none".
std::string setting_text(format::Setting setting, const format::SettingValues& values);

}  // namespace gnomon::reader
