// header.json and log.jsonl of the experiment. Normal context.
#include "libcollector/record/header.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libcollector/core/json_line.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/record/event_rows.h"
#include "libcollector/record/process_identity.h"

namespace gnomon::collector {
namespace {

// A command line may be megabytes long: arguments that do not fit are left out and counted.
void write_arguments(JsonLine& line, int argc, char** argv) {
  constexpr std::size_t kReserve = 8192;
  int i = 0;
  line.open("argv", '[');
  for (; i < argc && line.room() > 6 * std::strlen(argv[i]) + kReserve; ++i) line.item(argv[i]);
  line.close(']');
  if (i < argc) line.number("argv_left_out", static_cast<std::uint64_t>(argc - i));
}

// Uses the pid namespace of whoever records the process where that differs from the process's own.
void write_identity(JsonLine& line, const Settings& settings) {
  const ProcessIdentity identity = process_identity();
  line.open("process", '{')
      .text("boot", identity.boot)
      .text("pid_namespace",
            settings.seen_pid != 0 ? settings.seen_namespace : identity.pid_namespace)
      .number("start_ticks", identity.start_ticks)
      .close('}');
}

}  // namespace

int write_header(const Recorder& recorder, const Settings& settings, const char* timer, int argc,
                 char** argv, char* scratch, std::size_t scratch_bytes) {
  utsname host{};
  uname(&host);
  JsonLine line(scratch, scratch_bytes);
  line.open("format", '{')
      .number("major", format::kFormatMajor)
      .number("minor", format::kFormatMinor)
      .close('}')
      .text("collector", GNOMON_VERSION)
      .hex("session", settings.session)
      .number("pid",
              settings.seen_pid != 0 ? settings.seen_pid : static_cast<std::uint64_t>(getpid()))
      .text("executable", settings.executable);
  write_identity(line, settings);
  write_arguments(line, argc, argv);
  line.text("host", host.nodename)
      .text("system", host.sysname)
      .text("release", host.release)
      .text("machine", host.machine)
      .number("start_realtime", now(CLOCK_REALTIME))
      .number("start_monotonic", now(CLOCK_MONOTONIC))
      .open("clock", '{')
      .text("source", "signal")
      .text("timer", timer)
      .number("interval", settings.interval_ns)
      .close('}')
      .open("stacks", '{')
      .text("walk", "unwind tables")
      .close('}');
  write_events(line);
  const std::size_t length = line.finish();
  if (length == 0) return E2BIG;
  const ExperimentDirectory& directory = recorder.directory();
  const FileError error = append_text({directory, format::kNewHeaderFile}, scratch, length);
  return error ? error.error : -directory.rename_file(format::kNewHeaderFile, format::kHeaderFile);
}

void write_log(const Recorder& recorder, const LogEvent& event) {
  char text[256];
  JsonLine line(text, sizeof text);
  line.text("event", event.name).number("time", event.time);
  if (event.detail) line.number(event.detail, event.value);
  const std::size_t length = line.finish();
  if (length != 0) append_text({recorder.directory(), format::kLogFile}, text, length);
}

}  // namespace gnomon::collector
