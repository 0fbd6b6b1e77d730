// Profiles in the formats of other tools. Any thread, one at a time.
#include "reader/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reader/export/formats.h"
#include "reader/report/base/run_text.h"

namespace gnomon::reader {

std::optional<ExportFormat> export_format_named(std::string_view name) {
  const auto at = std::find(kExportFormats.begin(), kExportFormats.end(), name);
  if (at == kExportFormats.end()) return std::nullopt;
  return static_cast<ExportFormat>(at - kExportFormats.begin());
}

std::vector<FunctionId> path_to(const Profile& profile, CallId node) {
  std::vector<FunctionId> path;
  for (; node != CallId::total; node = profile.tree().node(node).parent)
    path.push_back(profile.tree().node(node).function);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string title_of(const Experiment& experiment) {
  const Header& header = experiment.header;
  return fmt::format("{} (process {})", command_line(header), header.pid);
}

Result<void> export_profile(ExportFormat format, Analysis& analysis, MetricId metric,
                            const Interrupt& interrupt, const Put& put) {
  if (!analysis.sums().has(metric))
    return fault(fmt::format("there is no event with the metric {} ({})", row(metric).key,
                             row(metric).title),
                 "`overview` shows what there is");
  const auto profile = analysis.profile(interrupt);
  if (!profile) return tl::unexpected(profile.error());
  constexpr std::array kWriters{write_collapsed, write_speedscope, write_pprof, write_firefox};
  return kWriters[static_cast<std::size_t>(format)]({analysis, **profile, metric, interrupt}, put);
}

}  // namespace gnomon::reader
