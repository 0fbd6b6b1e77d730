// Samples: the lines of the file `overview`. A sample is what the kernel says of the process, and
// of its threads, at one instant.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcollector/format/events.h"

namespace gnomon::format {

inline constexpr const char* kOverviewFile = "overview";

// Why a sample was taken. stop: the debugger stopped the program. manual: somebody asked for it.
// pause, resume: the recording of events was paused right after, or resumed right before. exec:
// another program is about to take the process over. baseline: the first look of
// gnomon-sampler, what its threads have used before; not a sample for the user.
enum class SampleEvent : std::uint32_t {
  start,
  end,
  periodic,
  stop,
  manual,
  pause,
  resume,
  exec,
  baseline
};
// As the member "event" says it, by SampleEvent.
inline constexpr std::array<const char*, 9> kSampleEvents{
    "start", "end", "periodic", "stop", "manual", "pause", "resume", "exec", "baseline"};

enum class Figure : std::uint8_t {
  cpu,
  user,
  system,
  waiting,
  minor_faults,
  major_faults,
  voluntary_switches,
  involuntary_switches,
  read_calls,
  write_calls,
  characters_read,
  characters_written,
  storage_read,
  storage_written,
  resident,
  peak_resident,
  threads,
  children,
};
inline constexpr std::size_t kFigureCount = 18;
inline constexpr std::uint64_t kUnknownFigure = ~0ull;
using Figures = std::array<std::uint64_t, kFigureCount>;  // by Figure

constexpr Figures unknown_figures() {
  Figures figures{};
  figures.fill(kUnknownFigure);
  return figures;
}

// grows: counts from the beginning of the process, so that a span is a difference; else a level.
struct FigureRow {
  Figure figure;
  std::string_view key, title;
  Unit unit;
  bool grows;
};
inline constexpr std::array kFigures{
    FigureRow{Figure::cpu, "cpu", "CPU time", Unit::nanoseconds, true},
    FigureRow{Figure::user, "user", "User CPU time, estimated by the kernel", Unit::nanoseconds,
              true},
    FigureRow{Figure::system, "system", "System CPU time, estimated by the kernel",
              Unit::nanoseconds, true},
    FigureRow{Figure::waiting, "waiting", "Time that threads waited for a CPU", Unit::nanoseconds,
              true},
    FigureRow{Figure::minor_faults, "minor_faults", "Minor page faults", Unit::none, true},
    FigureRow{Figure::major_faults, "major_faults", "Major page faults", Unit::none, true},
    FigureRow{Figure::voluntary_switches, "voluntary_switches", "Voluntary context switches",
              Unit::none, true},
    FigureRow{Figure::involuntary_switches, "involuntary_switches", "Involuntary context switches",
              Unit::none, true},
    FigureRow{Figure::read_calls, "read_calls", "Read calls", Unit::none, true},
    FigureRow{Figure::write_calls, "write_calls", "Write calls", Unit::none, true},
    FigureRow{Figure::characters_read, "characters_read", "Bytes read by calls", Unit::bytes, true},
    FigureRow{Figure::characters_written, "characters_written", "Bytes written by calls",
              Unit::bytes, true},
    FigureRow{Figure::storage_read, "storage_read", "Bytes read from storage", Unit::bytes, true},
    FigureRow{Figure::storage_written, "storage_written", "Bytes written to storage", Unit::bytes,
              true},
    FigureRow{Figure::resident, "resident", "Resident memory", Unit::bytes, false},
    FigureRow{Figure::peak_resident, "peak_resident", "Peak of resident memory", Unit::bytes,
              false},
    FigureRow{Figure::threads, "threads", "Threads", Unit::none, false},
    FigureRow{Figure::children, "children", "CPU time of child processes that have ended",
              Unit::nanoseconds, true},
};
static_assert(kFigures.size() == kFigureCount);
static_assert([] {
  for (std::size_t i = 0; i < kFigures.size(); ++i)
    if (static_cast<std::size_t>(kFigures[i].figure) != i) return false;
  return true;
}());

constexpr std::uint64_t& figure(Figures& figures, Figure which) {
  return figures[static_cast<std::size_t>(which)];
}
constexpr std::uint64_t figure(const Figures& figures, Figure which) {
  return figures[static_cast<std::size_t>(which)];
}

}  // namespace gnomon::format
