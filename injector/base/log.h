// Lines that this side adds to an experiment: to its log, its notes and its group. Any thread.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/format/control.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Appends an event that happens now to log.jsonl; reason: of a stop, may be empty. page: of the
// same experiment.
Result<void> write_log(const std::string& experiment, format::ControlPage& page,
                       std::string_view event, const std::string& reason = {});

// Appends lines to the experiment's file `notes`.
Result<void> write_notes(const std::string& experiment, const std::vector<std::string>& lines);

// Adds the experiment to a group's file, which is made if it is missing.
Result<void> join_group(const std::string& group, const std::string& experiment);

}  // namespace gnomon::injector
