// The sentences of format/tracers.h, filled in for an experiment. Any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/format/tracers.h"
#include "reader/analysis/analysis.h"
#include "reader/base/result.h"
#include "reader/metrics/metric.h"

namespace gnomon::reader {

// Fills in a pattern: `status` or `stopped` of the row. setting: the value of the tracer's setting.
// total_of: the total of a metric, or its growth, which may be less than 0.
std::string tracer_text(const format::TracerRow& tracer, std::string_view pattern,
                        std::uint64_t setting,
                        const std::function<std::int64_t(MetricId)>& total_of);
// The metrics in it.
std::vector<MetricId> metrics_in(std::string_view pattern);

// Makes the fault of a report about events of a tracer of which there are none: the tracer was off,
// or nothing has happened.
tl::unexpected<Fault> without_events(const Analysis& analysis, format::Tracer tracer);

// "1.203 s", "0.012 ms".
std::string time_text(std::uint64_t ns);

}  // namespace gnomon::reader
