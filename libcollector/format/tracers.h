// Tracers: a row for each kind of calls that the collector records. A row says which setting turns
// the tracer on, which hooks it needs, and what is said of its events.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "libcollector/format/events.h"
#include "libcollector/format/settings.h"

namespace gnomon::format {

// Hooks that are bound and released together. program: those that keep the program's manners, whose
// replacements are exported. The others trace calls, and only while that is asked for.
// pauses: functions that wait and are of no other group.
// calls: functions of `io` that wait; bound where `io` is not.
// libraries: those by which libraries come late; bound with any group of traced calls.
enum class HookGroup : std::uint8_t { program, heap, sync, io, pauses, calls, libraries };
using HookGroups = std::uint32_t;  // a bit each
constexpr HookGroups bit_of(HookGroup group) { return 1u << static_cast<unsigned>(group); }
constexpr HookGroups operator|(HookGroup a, HookGroup b) { return bit_of(a) | bit_of(b); }
constexpr HookGroups operator|(HookGroups a, HookGroup b) { return a | bit_of(b); }
inline constexpr HookGroups kAllHooks = HookGroup::program | HookGroup::heap | HookGroup::sync |
                                        HookGroup::io | HookGroup::pauses | HookGroup::calls |
                                        HookGroup::libraries;

enum class Tracer : std::uint8_t { heap, sync, io, waits };

// not_recorded, records: "allocations were not recorded", "records them".
// nothing: the sentence if there is no event though the tracer was on. cure: how to get some;
// empty: it depends on the recording. status, stopped: totals in words, in `status` and at each
// stop; empty: none. {KEY} is the total of a metric, {KEY WORD} the same with its word in the right
// number. {KEY s} and {KEY time} are times, {KEY +} is a difference with its sign. {about} says
// that the numbers are estimates.
struct TracerRow {
  Tracer tracer;
  Setting setting;               // not 0: it is on
  std::optional<DataKind> file;  // of its events; none: it has none
  HookGroups hooks;
  bool needs_collector;  // in the process
  bool (*is_estimate)(std::uint64_t setting) = [](std::uint64_t) { return false; };
  std::string_view not_recorded = {}, records = {}, nothing = {}, cure = {};
  std::string_view title = {}, status = {}, stopped = {};
};

inline constexpr std::array kTracers{
    TracerRow{.tracer = Tracer::heap,
              .setting = Setting::heaptrace,
              .file = DataKind::heaptrace,
              .hooks = bit_of(HookGroup::heap),
              .needs_collector = true,
              .is_estimate = [](std::uint64_t setting) { return heap_mean(setting) != 0; },
              .not_recorded = "allocations were not recorded",
              .records = "records them",
              .nothing = "the program has not allocated anything",
              .title = "Allocations",
              .status = "{heapalloccnt}, {heapallocbytes} bytes",
              .stopped = "{about}{heapalloccnt allocation} of {heapallocbytes byte}, heap "
                         "{heapleakbytes +} bytes"},
    TracerRow{.tracer = Tracer::sync,
              .setting = Setting::synctrace,
              .file = DataKind::synctrace,
              .hooks = bit_of(HookGroup::sync),
              .needs_collector = true,
              .not_recorded = "waits of threads for others were not recorded",
              .records = "records them",
              .nothing = "no thread has waited for another one so long that it was recorded",
              .cure = "`synctrace threshold all` records every call, whether it waits or not",
              .title = "Waits",
              .status = "{syncn}, {sync s}",
              .stopped = "{syncn wait}, {sync time}"},
    TracerRow{.tracer = Tracer::io,
              .setting = Setting::iotrace,
              .file = DataKind::iotrace,
              .hooks = bit_of(HookGroup::io),
              .needs_collector = true,
              .not_recorded = "I/O was not recorded",
              .records = "records it",
              .nothing = "the program has not done any I/O",
              .title = "I/O",
              .status = "{ioreadbytes} bytes read, {iowritebytes} written",
              .stopped = "{ioreadbytes byte} read, {iowritebytes} written"},
    TracerRow{.tracer = Tracer::waits,
              .setting = Setting::waits,
              .file = std::nullopt,
              .hooks = HookGroup::sync | HookGroup::pauses | HookGroup::calls,
              .needs_collector = false},
};

constexpr const TracerRow& row(Tracer tracer) {
  for (const TracerRow& each : kTracers)
    if (each.tracer == tracer) return each;
  return kTracers[0];
}
constexpr bool is_on(const TracerRow& tracer, const SettingValues& values) {
  return values[tracer.setting] != 0;
}

// The groups of hooks that these settings need; those of `io` stand for `calls`.
constexpr HookGroups hooks_of(const SettingValues& values) {
  HookGroups groups = 0;
  for (const TracerRow& each : kTracers)
    if (is_on(each, values)) groups |= each.hooks;
  if (groups & bit_of(HookGroup::io)) groups &= ~bit_of(HookGroup::calls);
  return groups == 0 ? 0 : groups | HookGroup::libraries;
}

}  // namespace gnomon::format
