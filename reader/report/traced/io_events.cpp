// Calls that did I/O, as they were recorded. Any thread, one at a time.
#include "reader/report/traced/io_events.h"

#include <algorithm>

#include "reader/metrics/metric.h"
#include "reader/report/traced/tracer_text.h"

namespace gnomon::reader {
namespace {

std::uint64_t value_of(const Event& event, const char* name) {
  const EventLayout::Field* const field = event.layout.field(name);
  return field ? event.value(*field) : 0;
}

RecordedIo io_of(const Event& event) {
  const auto number = [&](const char* name) {
    return static_cast<std::uint32_t>(value_of(event, name));
  };
  return {static_cast<format::IoOperation>(value_of(event, "operation")),
          number("error"),
          value_of(event, "bytes"),
          value_of(event, "duration"),
          number("file"),
          number("stack")};
}

bool is_wait(format::IoOperation operation) {
  using enum format::IoOperation;
  return operation == wait || operation == connect || operation == accept;
}

bool has_calls(const Analysis& analysis) {
  const auto& parts = analysis.parts();
  return std::any_of(parts.begin(), parts.end(),
                     [](const auto& part) { return part->events(format::kIo) != 0; });
}

// A name comes in parts, of which each fills the record's rest; in order, as one thread records
// them.
void add_name(OpenedFiles& files, const Event& event) {
  const EventLayout::Field* const text = event.layout.field("text");
  if (!text) return;
  OpenedFile& file = files[static_cast<std::uint32_t>(value_of(event, "file"))];
  file.descriptor = static_cast<std::int32_t>(value_of(event, "descriptor"));
  if (value_of(event, "part") == 0) file.name.clear();
  file.name += event.text(*text);
}

}  // namespace

Result<OpenedFiles> each_io(Part& part, const Interrupt& interrupt,
                            const std::function<void(const RecordedIo&)>& visit) {
  OpenedFiles files;
  const auto read = part.each_recorded(interrupt, [&](const Event& event) -> Result<void> {
    if (event.layout.name == kFileEvent) add_name(files, event);
    if (event.layout.name != row(kReads).event) return {};
    const auto is_chosen = part.contains(event, interrupt);
    if (!is_chosen) return tl::unexpected(is_chosen.error());
    if (*is_chosen) visit(io_of(event));
    return {};
  });
  return read ? Result<OpenedFiles>(std::move(files)) : tl::unexpected(read.error());
}

void IoSum::add(const RecordedIo& io) {
  using format::IoOperation;
  IoAmount& amount = io.error != 0                        ? failed
                     : io.operation == IoOperation::read  ? reads
                     : io.operation == IoOperation::write ? writes
                     : io.operation == IoOperation::sync  ? syncs
                     : io.operation == IoOperation::open  ? opens
                     : is_wait(io.operation)              ? waits
                                                          : others;
  amount.add(io);
}

IoSum& IoSum::operator+=(const IoSum& other) {
  reads += other.reads;
  writes += other.writes;
  syncs += other.syncs;
  opens += other.opens;
  waits += other.waits;
  others += other.others;
  failed += other.failed;
  return *this;
}

Result<void> has_io(const Analysis& analysis) {
  if (has_calls(analysis)) return {};
  return without_events(analysis, format::Tracer::io);
}

}  // namespace gnomon::reader
