// The file `overview`: samples of the kernel's figures of a process. Normal context, of the
// recorded process or of gnomon-sampler.
#include "libcollector/record/overview.h"

#include <sys/resource.h>

#include <cstring>

#include "libcollector/core/atomic.h"
#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/record/file_space.h"

namespace gnomon::collector {
namespace {

using format::Figure;
using format::figure;
using format::Figures;

constexpr std::size_t kFileBytes = 2048;

std::uint64_t ns_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

// The text of NAME in the directory; empty if it cannot be read.
void read_file(const char* directory, const char* name, char (&text)[kFileBytes]) {
  char path[128];
  const std::size_t before = std::strlen(directory), after = std::strlen(name);
  text[0] = 0;
  if (before + after >= sizeof path) return;
  std::memcpy(path, directory, before);
  std::memcpy(path + before, name, after);
  path[before + after] = 0;
  read_small_file(path, text, sizeof text);
}

std::uint64_t kibibytes(std::uint64_t number) {
  return number == format::kUnknownFigure ? number : number * 1024;
}

// getrusage(2) counts the threads that have ended, too. Its maximal resident size may be that of
// the program which this process ran before.
void read_own_usage(Figures& figures) {
  rusage usage{};
  figure(figures, Figure::cpu) = now(CLOCK_PROCESS_CPUTIME_ID);
  if (raw_syscall(SYS_getrusage, RUSAGE_SELF, arg(&usage)) != 0) return;
  figure(figures, Figure::user) = ns_of(usage.ru_utime);
  figure(figures, Figure::system) = ns_of(usage.ru_stime);
  figure(figures, Figure::minor_faults) = static_cast<std::uint64_t>(usage.ru_minflt);
  figure(figures, Figure::major_faults) = static_cast<std::uint64_t>(usage.ru_majflt);
  figure(figures, Figure::voluntary_switches) = static_cast<std::uint64_t>(usage.ru_nvcsw);
  figure(figures, Figure::involuntary_switches) = static_cast<std::uint64_t>(usage.ru_nivcsw);
  if (raw_syscall(SYS_getrusage, RUSAGE_CHILDREN, arg(&usage)) == 0)
    figure(figures, Figure::children) = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

}  // namespace

std::uint64_t number_in_lines(const char* text, const char* key) {
  const std::size_t length = std::strlen(key);
  for (const char* line = text; line; line = std::strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (std::strncmp(line, key, length) != 0) continue;
    const char* at = line + length;
    while (*at == ' ' || *at == '\t') ++at;
    if (*at < '0' || *at > '9') return format::kUnknownFigure;
    std::uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; ++at)
      number = number * 10 + static_cast<std::uint64_t>(*at - '0');
    return number;
  }
  return format::kUnknownFigure;
}

void read_proc_figures(const char* directory, Figures& figures) {
  char text[kFileBytes] = {};
  read_file(directory, "/io", text);
  figure(figures, Figure::characters_read) = number_in_lines(text, "rchar:");
  figure(figures, Figure::characters_written) = number_in_lines(text, "wchar:");
  figure(figures, Figure::read_calls) = number_in_lines(text, "syscr:");
  figure(figures, Figure::write_calls) = number_in_lines(text, "syscw:");
  figure(figures, Figure::storage_read) = number_in_lines(text, "read_bytes:");
  figure(figures, Figure::storage_written) = number_in_lines(text, "write_bytes:");
  read_file(directory, "/status", text);
  figure(figures, Figure::resident) = kibibytes(number_in_lines(text, "VmRSS:"));
  figure(figures, Figure::peak_resident) = kibibytes(number_in_lines(text, "VmHWM:"));
  figure(figures, Figure::threads) = number_in_lines(text, "Threads:");
}

void write_figures(JsonLine& line, const Figures& figures) {
  for (const format::FigureRow& row : format::kFigures)
    if (figure(figures, row.figure) != format::kUnknownFigure)
      line.number(row.key.data(), figure(figures, row.figure));
}

void begin_sample(JsonLine& line, std::uint32_t number, format::SampleEvent event,
                  const char* label, std::uint64_t time, const Figures& figures) {
  line.number("line", number).text("event", format::kSampleEvents[static_cast<std::size_t>(event)]);
  if (*label) line.text("label", label);
  line.number("time", time);
  write_figures(line, figures);
}

bool sample_own_process(const ExperimentDirectory& directory, format::ControlPage& control,
                        format::SampleEvent event) {
  Figures figures = format::unknown_figures();
  with_own_descriptors([&] {
    read_proc_figures("/proc/self", figures);
    if (std::uint64_t& threads = figure(figures, Figure::threads);
        has_own_descriptors() && threads != format::kUnknownFigure)
      --threads;
  });
  const std::uint64_t time = now(CLOCK_MONOTONIC);
  read_own_usage(figures);
  char text[1024];
  JsonLine line(control.session, text, sizeof text);
  begin_sample(line, atomic(control.overview_lines).fetch_add(1), event, "", time, figures);
  const std::size_t length = line.finish();
  return length != 0 && !append_text({directory, format::kOverviewFile}, text, length);
}

}  // namespace gnomon::collector
