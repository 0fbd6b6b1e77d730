// A recording, its program and its clock in words. Any thread.
#pragma once
#include <string>

#include "reader/experiment/experiment.h"
#include "reader/samples/log.h"

namespace gnomon::reader {

// "recording", or how it ended. log: of the experiment.
std::string recording_state(const Experiment& experiment, const Log& log);
// The program's arguments, apart by blanks.
std::string command_line(const Header& header);
std::string clock_text(const Experiment& experiment, const Log& log);

}  // namespace gnomon::reader
