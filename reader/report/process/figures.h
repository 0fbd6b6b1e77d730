// What reports on the process itself share. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Empty where it is not known.
Cell figure_cell(std::uint64_t value, format::Unit unit);

// As text shows it; empty for a count.
std::string unit_text(format::Unit unit);

// Seconds since the recording began.
Nanoseconds since_start(const Experiment& experiment, std::uint64_t time);

// What is missing among the samples, and what else was lost, sentences.
std::vector<std::string> sample_notes(const Analysis& analysis);
// Those, and what events were lost.
std::vector<std::string> process_notes(const Analysis& analysis);

// Date and time of a moment on CLOCK_MONOTONIC, in the time zone of this process.
std::string date_of(const Experiment& experiment, std::uint64_t time);

}  // namespace gnomon::reader
