// What is not known of the time that threads spent off a CPU; sentences to stand above a table. Any
// thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

// Returns true if the metric is about time off a CPU, also.
bool is_of_waiting(MetricId metric);
// Why call stacks and reasons of waits are missing. Empty: hardly any are.
std::string waiting_note(const Analysis& analysis, const Profile& profile);

}  // namespace gnomon::reader
