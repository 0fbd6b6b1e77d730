// Profiles in the formats of other tools. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reader/analysis/analysis.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// collapsed: a line a call stack, for flame graphs. speedscope: JSON of www.speedscope.app. pprof:
// profile.proto, compressed by gzip, with every metric that there is data for. firefox: JSON of
// profiler.firefox.com, the events in time and by thread.
enum class ExportFormat : std::uint8_t { collapsed, speedscope, pprof, firefox };
inline constexpr std::array<std::string_view, 4> kExportFormats{"collapsed", "speedscope", "pprof",
                                                                "firefox"};
std::optional<ExportFormat> export_format_named(std::string_view name);

// Weights are whole numbers: nanoseconds, bytes, counts. metric: which one the weights are; pprof
// shows that one first. Fault: there is no data, damage, the user interrupted, or `put` returned
// it.
Result<void> export_profile(ExportFormat format, Analysis& analysis, MetricId metric,
                            const Interrupt& interrupt, const Put& put);

}  // namespace gnomon::reader
