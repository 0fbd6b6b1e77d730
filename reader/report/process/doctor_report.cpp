// How much of what was recorded has names and lines, and what to do for the rest. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

struct Health {
  std::uint64_t all = 0, without_names = 0, without_lines = 0;
  std::size_t file = Location::kNoFile;
};

// The server of debug information of this system's distribution (https://debuginfod.elfutils.org).
std::string server() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    for (const auto& [id, host] : {std::pair("debian", "debuginfod.debian.net"),
                                   std::pair("ubuntu", "debuginfod.ubuntu.com"),
                                   std::pair("fedora", "debuginfod.fedoraproject.org"),
                                   std::pair("arch", "debuginfod.archlinux.org")})
      if (line == fmt::format("ID={}", id)) return host;
  return "debuginfod.elfutils.org";
}

std::string fetch(const std::string& build_id) {
  const char* const asked = std::getenv("DEBUGINFOD_URLS");
  return fmt::format("{}debuginfod-find debuginfo {}",
                     asked && *asked ? "" : "DEBUGINFOD_URLS=https://" + server() + " ", build_id);
}

bool is_of_system(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/lib");
}

const FileIdentity* identity_of(const Analysis& analysis, const std::string& path) {
  for (const auto& part : analysis.parts())
    for (const LoadObject& object : part->experiment().objects)
      if (object.path == path) return &object.file;
  return nullptr;
}

// What makes names or lines of an object appear; empty: nothing is missing, or nothing helps.
std::string next_step(Analysis& analysis, const std::string& path, const Health& health) {
  if (health.without_names == 0 && health.without_lines == 0) return "";
  if (path.empty() && health.without_names == 0) return "";
  if (path.empty())
    return "code made at run time: have its maker write /tmp/perf-PID.map (node --perf-basic-prof, "
           "java -XX:+DumpPerfMapAtExit)";
  if (path.starts_with('[') || path.starts_with('<')) return "";
  // A file that is another one now, or damaged, says so itself.
  const auto& reasons = analysis.without_lines();
  const auto reason = reasons.find(path);
  const bool is_readable =
      analysis.symbol_state(health.file) != SymbolState::none || health.without_names == 0;
  if (reason != reasons.end() && !is_readable) return reason->second;
  const FileIdentity* const identity = identity_of(analysis, path);
  const bool has_id = identity && !identity->build_id.empty();
  if (is_of_system(path))
    return has_id ? fmt::format("{}, or install the -dbgsym package of `dpkg -S {}`",
                                fetch(identity->build_id), path)
                  : fmt::format("install the debug package of {}", path);
  if (health.without_names != 0)
    return fmt::format("build it with -g and do not strip it{}",
                       has_id ? ", or `target symbols add` its debug file" : "");
  return health.without_lines == health.all ? "build it with -g" : "build the rest of it with -g";
}

std::map<std::string, Health> health_of(const PlaceItems& items, MetricId metric) {
  std::map<std::string, Health> objects;
  for (std::uint32_t item = 0; item < items.size(); ++item) {
    if (item == items.total()) continue;
    const std::uint64_t value = items.value(Flavour::exclusive, metric, item);
    if (value == 0) continue;
    const Function& function = items.function(item);
    // Time without a place, such as <Short threads>, is in no code.
    const bool is_code =
        !function.object.empty() || !function.name.starts_with('<') || function.name == kUnknown;
    Health& health = objects[is_code ? function.object : function.name];
    health.file = function.file;
    health.all += value;
    if (function.is_unnamed || !is_code || function.name == kUnknown) health.without_names += value;
    if (!items.place(item).source.is_known()) health.without_lines += value;
  }
  return objects;
}

}  // namespace

Result<Table> doctor_report(Analysis& analysis, const View& view) {
  const auto found = ask_places(analysis, view, Grain::line);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  const MetricId metric = leading_metric(asked.shown);
  const std::uint64_t total = items.value(Flavour::exclusive, metric, items.total());
  const auto objects = health_of(items, metric);
  std::vector<std::pair<std::string, Health>> order(objects.begin(), objects.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.without_lines, a.second.all) >
           std::pair(b.second.without_lines, b.second.all);
  });
  Health sum;
  Table table;
  const std::string title(row(metric).title);
  table.columns = {{"share", {title, "%"}, true, Type::percent},
                   {"without_names", {"Without", "names", "%"}, true, Type::percent},
                   {"without_lines", {"Without", "lines", "%"}, true, Type::percent},
                   {"load_object", {"Load Object"}},
                   {"next_step", {"Next step"}, true, Type::text, true}};
  for (const auto& [path, health] : order) {
    sum.without_names += health.without_names;
    sum.without_lines += health.without_lines;
    Row cells;
    cells.push_back(share_cell(health.all, total));
    cells.push_back(share_cell(health.without_names, total));
    cells.push_back(share_cell(health.without_lines, total));
    cells.emplace_back(path.empty() ? std::string("<none>") : path);
    cells.emplace_back(next_step(analysis, path, health));
    table.rows.push_back(std::move(cells));
  }
  const auto has = [&](std::uint64_t without) {
    return total == 0 ? 100.0
                      : 100 - 100 * static_cast<double>(without) / static_cast<double>(total);
  };
  table.title =
      fmt::format("{:.1f} % of {} is in functions with names, {:.1f} % in lines of source",
                  has(sum.without_names), title, has(sum.without_lines));
  return with_losses(std::move(table), analysis, asked);
}

}  // namespace gnomon::reader
