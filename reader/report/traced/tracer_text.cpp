// The sentences of format/tracers.h, filled in for an experiment. Any thread.
#include "reader/report/traced/tracer_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reader/report/notes/unrecorded.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

constexpr std::string_view kAbout = "about";

constexpr bool is_metric(std::string_view key) {
  return std::any_of(kMetrics.begin(), kMetrics.end(),
                     [&](const Metric& each) { return each.key == key; });
}

// Calls plain(text) and place(key, how) for the parts of a pattern, in order.
template <typename Plain, typename Place>
constexpr void each_part(std::string_view pattern, Plain plain, Place place) {
  while (!pattern.empty()) {
    const std::size_t open = std::min(pattern.find('{'), pattern.size());
    plain(pattern.substr(0, open));
    pattern.remove_prefix(open);
    if (pattern.empty()) return;
    const std::size_t close = pattern.find('}');
    const std::string_view inside = pattern.substr(1, close - 1);
    const std::size_t blank = std::min(inside.find(' '), inside.size());
    place(inside.substr(0, blank), inside.substr(std::min(blank + 1, inside.size())));
    pattern.remove_prefix(close + 1);
  }
}

constexpr bool is_sound(std::string_view pattern) {
  bool sound = true;
  each_part(
      pattern, [](std::string_view) {},
      [&](std::string_view key, std::string_view) { sound &= key == kAbout || is_metric(key); });
  return sound;
}
static_assert(std::all_of(format::kTracers.begin(), format::kTracers.end(), [](const auto& each) {
  return is_sound(each.status) && is_sound(each.stopped);
}));

MetricId metric_of(std::string_view key) {
  const auto at = std::find_if(kMetrics.begin(), kMetrics.end(),
                               [&](const Metric& each) { return each.key == key; });
  return MetricId{static_cast<std::uint32_t>(at - kMetrics.begin())};
}

std::string value_text(std::int64_t value, std::string_view how) {
  if (how == "+") return fmt::format("{:+}", value);
  const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
  if (how.empty()) return std::to_string(whole);
  if (how == "s") return fmt::format("{:.3f} s", seconds(Nanoseconds{whole}));
  return how == "time" ? time_text(whole) : counted(whole, std::string(how).c_str());
}

}  // namespace

std::string tracer_text(const format::TracerRow& tracer, std::string_view pattern,
                        std::uint64_t setting,
                        const std::function<std::int64_t(MetricId)>& total_of) {
  std::string text;
  each_part(
      pattern, [&](std::string_view plain) { text += plain; },
      [&](std::string_view key, std::string_view how) {
        if (key != kAbout)
          text += value_text(total_of(metric_of(key)), how);
        else if (tracer.is_estimate(setting))
          text += "about ";
      });
  return text;
}

std::vector<MetricId> metrics_in(std::string_view pattern) {
  std::vector<MetricId> metrics;
  each_part(
      pattern, [](std::string_view) {},
      [&](std::string_view key, std::string_view) {
        if (key != kAbout) metrics.push_back(metric_of(key));
      });
  return metrics;
}

tl::unexpected<Fault> without_events(const Analysis& analysis, format::Tracer tracer) {
  const format::TracerRow& of = format::row(tracer);
  const Experiment& experiment = analysis.experiment();
  const std::string nothing(of.nothing);
  if (!is_on(of, experiment.header.settings)) {
    const format::SettingRow& setting = format::row(of.setting);
    return not_traced(experiment.header, std::string(of.not_recorded),
                      fmt::format("`collector {} on` before the run, or `gnomon collect {} on`, {}",
                                  setting.name, setting.option, of.records));
  }
  if (!of.cure.empty()) return fault(nothing, std::string(of.cure));
  return nothing_traced(experiment, nothing);
}

std::string time_text(std::uint64_t ns) {
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

}  // namespace gnomon::reader
