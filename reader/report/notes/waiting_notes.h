// What is not known of the time that threads spent off a CPU; sentences to stand above a table. Any
// thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

// Returns true if the metric counts time off a CPU.
bool is_of_waiting(MetricId metric);
// Says how much time off a CPU has no call stack, and why. Empty if less than 1 % of the threads'
// time has none.
std::string waiting_note(const Analysis& analysis, const Profile& profile);

}  // namespace gnomon::reader
