// log.jsonl of an experiment: the stops of the program that a debugger's user saw. Any thread, one
// at a time.
#include "reader/samples/log.h"

#include <algorithm>

#include "libcollector/format/names.h"
#include "reader/experiment/json_lines.h"

namespace gnomon::reader {

// A damaged line is left out: nothing but the choice of a span depends on the log.
void Log::read_new(const std::string& directory) {
  const auto lines = read_new_lines(directory + "/" + format::kLogFile, read_);
  if (!lines) return;
  for (const nlohmann::json& line : lines->whole) {
    const auto event = field<std::string>(line, "event");
    const auto time = field<std::uint64_t>(line, "time");
    if (event == format::kLogProcessEnded) process_end_ = time;
    if (event == format::kLogStop)
      stops_.push_back({time, field<std::string>(line, format::kLogReason)});
  }
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const Stop& a, const Stop& b) { return a.time < b.time; });
}

}  // namespace gnomon::reader
