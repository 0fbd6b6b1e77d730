// What is wrong with the counts of counters, in sentences to stand above a table. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/part.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

// metrics: that are shown.
void add_counter_notes(const Part& part, const std::vector<MetricId>& metrics,
                       std::vector<std::string>& notes);
// What watches have added to the time of the program.
void add_watch_notes(const Part& part, std::vector<std::string>& notes);
// What is lost of an event that counts; name: its own.
void add_count_losses(const std::string& name, const CountFigures& figures, std::uint64_t interval,
                      std::vector<std::string>& notes);

}  // namespace gnomon::reader
