// log.jsonl of the experiment: events in the life of the program. Normal context of any process.
#include "libcollector/record/log.h"

#include "libcollector/core/atomic.h"
#include "libcollector/core/json_line.h"
#include "libcollector/format/names.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {

void write_log(const ExperimentDirectory& directory, format::ControlPage& control,
               const LogEvent& event) {
  char text[256];
  JsonLine line(control.session, text, sizeof text);
  line.number("line", atomic(control.log_lines).fetch_add(1))
      .text("event", event.name)
      .number("time", event.time);
  if (event.detail) line.number(event.detail, event.value);
  if (event.reason) line.text(format::kLogReason, event.reason);
  const std::size_t length = line.finish();
  if (length != 0) append_text({directory, format::kLogFile}, text, length);
}

}  // namespace gnomon::collector
