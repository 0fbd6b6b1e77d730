// A recording, its program and its clock in words. Any thread.
#pragma once
#include <string>

#include "reader/experiment/experiment.h"

namespace gnomon::reader {

// "recording", or how it ended.
std::string recording_state(const Experiment& experiment);
// The program's arguments, apart by blanks.
std::string command_line(const Header& header);
std::string clock_text(const Header& header);

}  // namespace gnomon::reader
