// gnomon-counters, which knows what can be counted here. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/base/result.h"

namespace gnomon::injector {

// folder: where libcollector.so lies, and gnomon-counters beside it.
// The counters that there are, as a text for users.
Result<std::string> list_counters(const std::string& folder);
// The text of format/counters.h for words of a user's. Fault: why they cannot be counted.
Result<std::string> resolve_counters(const std::string& folder, std::vector<std::string> words);

}  // namespace gnomon::injector
