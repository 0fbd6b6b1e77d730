// The writers of each format, and what they share. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/export/export.h"

namespace gnomon::reader {

struct ExportSource {
  Analysis& analysis;
  const Profile& profile;
  MetricId metric;
  const Interrupt& interrupt;
};

Result<void> write_collapsed(const ExportSource& source, const Put& put);
Result<void> write_speedscope(const ExportSource& source, const Put& put);
Result<void> write_pprof(const ExportSource& source, const Put& put);
Result<void> write_firefox(const ExportSource& source, const Put& put);

// The functions from the outermost down to a node; <Total> is not among them.
std::vector<FunctionId> path_to(const Profile& profile, CallId node);
// A string of JSON with its quotes; what is no UTF-8 is replaced.
std::string json_string(const std::string& text);
// "demo -x (process 77)"
std::string title_of(const Experiment& experiment);

}  // namespace gnomon::reader
