// The file `overview`: samples of the kernel's figures of a process. Normal context, of the
// recorded process or of gnomon-sampler.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcollector/core/json_line.h"
#include "libcollector/format/control.h"
#include "libcollector/format/overview.h"
#include "libcollector/record/experiment_directory.h"

namespace gnomon::collector {

// Reads the figures that are in the files `io` and `status` of `directory`, such as "/proc/self".
// What cannot be read stays as it is.
void read_proc_figures(const char* directory, format::Figures& figures);

// Returns the number behind the line that begins with `key`, or kUnknownFigure.
std::uint64_t number_in_lines(const char* text, const char* key);

// Begins the line of a sample: its number, the event, the label if it is not empty, the time and
// the figures that are known.
void begin_sample(JsonLine& line, std::uint32_t number, format::SampleEvent event,
                  const char* label, std::uint64_t time, const format::Figures& figures);
// Adds the figures that are known as members.
void write_figures(JsonLine& line, const format::Figures& figures);

// Takes a sample of the calling process and appends it to the experiment's file. Returns false if
// the sample could not be written.
bool sample_own_process(const ExperimentDirectory& directory, format::ControlPage& control,
                        format::SampleEvent event);

}  // namespace gnomon::collector
