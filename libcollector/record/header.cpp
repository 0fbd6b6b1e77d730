// header.json of the experiment. Normal context.
#include "libcollector/record/header.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libcollector/core/json_line.h"
#include "libcollector/core/proc_path.h"
#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/record/event_rows.h"
#include "libcollector/record/overview.h"
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
void write_identity(JsonLine& line, const Settings& settings, const char* process) {
  const ProcessIdentity identity = process_identity(process);
  line.open("process", '{')
      .text("boot", identity.boot)
      .text("pid_namespace",
            settings.seen_pid != 0 ? settings.seen_namespace : identity.pid_namespace)
      .number("start_ticks", identity.start_ticks)
      .close('}');
}

// The text behind the colon of the first line that begins with `key`, as a number or copied to
// `to`.
void copy_value(const char* text, const char* key, char* to, std::size_t size) {
  to[0] = 0;
  const char* line = std::strstr(text, key);
  const char* colon = line ? std::strchr(line, ':') : nullptr;
  if (!colon) return;
  for (++colon; *colon == ' ' || *colon == '\t'; ++colon) {
  }
  const std::size_t length = std::min(std::strcspn(colon, "\n"), size - 1);
  std::memcpy(to, colon, length);
  to[length] = 0;
}

void write_processors(JsonLine& line) {
  static char text[2048];  // the stack may be small
  char value[128];
  line.number("cpus", static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  if (read_small_file("/proc/cpuinfo", text, sizeof text) == 0) return;
  copy_value(text, "model name", value, sizeof value);
  line.text("cpu_model", value);
  copy_value(text, "cpu MHz", value, sizeof value);
  line.number("cpu_mhz", std::strtoull(value, nullptr, 10));
}

// Where the process runs, and on what.
void write_surroundings(JsonLine& line, const char* process) {
  static char text[PATH_MAX];  // the stack may be small
  const long length =
      raw_syscall(SYS_readlink, arg(ProcPath(process, "cwd").text()), arg(text), sizeof text - 1);
  text[std::max(length, 0l)] = 0;
  line.text("cwd", text)
      .number("parent", stat_field(process, 4))
      .number("page_bytes", static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  write_processors(line);
  if (read_small_file("/proc/meminfo", text, 256) == 0) return;
  if (const std::uint64_t kibibytes = number_in_lines(text, "MemTotal:");
      kibibytes != format::kUnknownFigure)
    line.number("memory_bytes", kibibytes * 1024);
}

}  // namespace

FileError write_header(const Recorder& recorder, const Settings& settings, const Recorded& recorded,
                       char* scratch, std::size_t scratch_bytes) {
  utsname host{};
  uname(&host);
  JsonLine line(0, scratch, scratch_bytes);
  line.open("format", '{')
      .number("major", format::kFormatMajor)
      .number("minor", format::kFormatMinor)
      .close('}')
      .text("collector", GNOMON_VERSION)
      .hex("session", settings.session)
      .number("pid", settings.seen_pid != 0 ? settings.seen_pid : recorded.pid)
      .text("executable", settings.executable);
  write_identity(line, settings, recorded.process);
  write_arguments(line, recorded.argc, recorded.argv);
  write_surroundings(line, recorded.process);
  line.text("host", host.nodename)
      .text("system", host.sysname)
      .text("release", host.release)
      .text("machine", host.machine)
      .number("start_realtime", now(CLOCK_REALTIME))
      .number("start_monotonic", now(CLOCK_MONOTONIC))
      .open("clock", '{')
      .text("source", recorded.outside ? "kernel" : "signal")
      .text("timer", recorded.timer)
      .number("interval", settings.values[format::Setting::profile])
      .close('}')
      .open("stacks", '{')
      .text("walk", "unwind tables")
      .close('}');
  if (recorded.outside) line.text("outside", recorded.outside);
  line.open("settings", '{');
  for (const format::SettingRow& row : format::kSettings)
    line.number(row.key.data(), settings.values[row.setting]);
  line.close('}');
  write_events(line);
  const std::size_t length = line.finish();
  if (length == 0) return {format::Failure::open_file, E2BIG};
  const ExperimentDirectory& directory = recorder.directory();
  if (const FileError error = append_text({directory, format::kNewHeaderFile}, scratch, length))
    return error;
  const int renamed = directory.rename_file(format::kNewHeaderFile, format::kHeaderFile);
  return renamed == 0 ? FileError{} : FileError{format::Failure::open_file, -renamed};
}

}  // namespace gnomon::collector
