// Experiments that are in the way of a new one. Any thread.
#pragma once
#include <string>

#include "injector/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// The experiment that is in the way of the one that the settings name; empty: there is none, or
// it makes the next one take another number. Fault: it may not be replaced, or cannot be.
Result<std::string> existing_experiment(const Settings& settings, bool may_replace);
// Removes an experiment; nothing if the name is empty.
Result<void> remove_experiment(const std::string& experiment);

}  // namespace gnomon::injector
