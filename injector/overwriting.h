// Experiments that are in the way of a new one. Any thread.
#pragma once
#include <string>

#include "injector/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// Returns the experiment that has to be removed before the one that the settings name can be
// written; empty if that name is free, or if a number in it may be counted up. Fault: the name is
// taken and `may_replace` is false, or what has it is no experiment or is being recorded.
Result<std::string> existing_experiment(const Settings& settings, bool may_replace);
// Removes an experiment; nothing if the name is empty.
Result<void> remove_experiment(const std::string& experiment);

}  // namespace gnomon::injector
