// The rows of the event kinds in header.json. Any context: writes to the line's buffer only.
#include "libcollector/record/event_rows.h"

#include "libcollector/format/events.h"

namespace gnomon::collector {

void write_events(JsonLine& line) {
  line.open("events", '[');
  for (const format::EventKind& kind : format::kEventKinds) {
    line.open_item('{')
        .number("id", kind.id)
        .text("name", kind.name.data())
        .text("file", format::kDataFiles[static_cast<std::size_t>(kind.file)])
        .number("kind", static_cast<std::uint64_t>(kind.file))
        .text("layout", kind.layout == format::Layout::compact ? "compact" : "head")
        .number("size", kind.size)
        .open("fields", '[');
    for (const format::Field& field : kind.fields) {
      if (field.name.empty()) break;
      line.open_item('{')
          .text("name", field.name.data())
          .text("token", field.token.data())
          .number("offset", field.offset)
          .number("width", field.width)
          .text("unit", format::kUnitNames[static_cast<std::size_t>(field.unit)].data())
          .close('}');
    }
    line.close(']').close('}');
  }
  line.close(']');
}

}  // namespace gnomon::collector
