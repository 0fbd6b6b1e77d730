// What the kernel counts of a process beyond its traced calls, in sentences. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/part.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

// metrics: those that are shown; nothing is said of others. Nothing is said where the two figures
// are of different things: of a part of the recording, or with child processes.
void add_untraced_notes(const Part& part, const std::vector<MetricId>& metrics,
                        std::vector<std::string>& notes);

}  // namespace gnomon::reader
