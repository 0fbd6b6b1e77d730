// Experiments that are in the way of a new one. Any thread.
#pragma once
#include <string>

#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Returns the existing experiment that the caller has to remove before a recording with these
// settings; empty if their name is free, or if the collector may count up the number in it. Returns
// a Fault if the name is taken and `may_replace` is false, or if it names something that is no
// experiment or is being recorded.
Result<std::string> existing_experiment(const Settings& settings, bool may_replace);
// Removes an experiment; nothing if the name is empty.
Result<void> remove_experiment(const std::string& experiment);

}  // namespace gnomon::injector
