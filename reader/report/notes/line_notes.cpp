// How much of the time has no line numbers, and why. Any thread.
#include "reader/report/notes/line_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gnomon::reader {

std::vector<std::string> line_notes(const Analysis& analysis, const PlaceItems& places) {
  constexpr double kLeast = 1;      // percent
  constexpr std::size_t kMost = 3;  // load objects
  std::map<std::string, std::uint64_t> times;
  for (std::uint32_t item = 0; item < places.size(); ++item) {
    const Function& function = places.function(item);
    if (function.object.empty() || places.place(item).source.is_known()) continue;
    times[function.object] += places.value(Flavour::exclusive, kTotalCpu, item);
  }
  const std::uint64_t total = places.value(Flavour::exclusive, kTotalCpu, places.total());
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [object, time] : times) order.emplace_back(time, object);
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> notes;
  const auto& reasons = analysis.without_lines();
  for (const auto& [time, object] : order) {
    const double share =
        total == 0 ? 0 : 100.0 * static_cast<double>(time) / static_cast<double>(total);
    if (share < kLeast || notes.size() == kMost) break;
    if (object.starts_with('[') && !reasons.contains(object)) continue;  // of the kernel
    const auto reason = reasons.find(object);
    notes.push_back(fmt::format(
        "{:.1f} % of the time is in code without line numbers: {}", share,
        reason != reasons.end() ? reason->second
                                : fmt::format("a part of {} was compiled without -g.", object)));
  }
  for (const std::string& object : analysis.without_code()) {
    if (!places.are_instructions()) break;
    notes.push_back(fmt::format(
        "the code of {} cannot be read: a caller's address in it is that of the last byte of its "
        "call, not of the call's beginning.",
        object));
  }
  return notes;
}

}  // namespace gnomon::reader
