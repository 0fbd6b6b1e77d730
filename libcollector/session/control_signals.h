// Signals by which somebody pauses and resumes the recording, or has samples taken. Normal context.
#pragma once
#include "libcollector/format/settings.h"

namespace gnomon::collector {

// Installs handlers for those that the settings name.
void take_control_signals(const format::SettingValues& settings);

// Gives those signals the actions that they had, unless the program has set others meanwhile.
void give_control_signals_back();

}  // namespace gnomon::collector
