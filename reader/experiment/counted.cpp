// What an experiment has counted besides time. Any thread.
#include "reader/experiment/counted.h"

#include <algorithm>
#include <utility>

#include "libcollector/format/counters.h"
#include "libcollector/format/names.h"
#include "reader/experiment/json_lines.h"
#include "reader/experiment/json_members.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

void read_figures(const Json& line, CountFigures& figures) {
  figures.counted = field<std::uint64_t>(line, "counted");
  figures.enabled = Nanoseconds{field<std::uint64_t>(line, "enabled")};
  figures.running = Nanoseconds{field<std::uint64_t>(line, "running")};
  figures.lost = field<std::uint64_t>(line, "lost");
  figures.throttled = field<std::uint64_t>(line, "throttled");
}

bool take_counter(const Json& line, std::vector<CounterLine>& counters) {
  const auto number = field<std::uint64_t>(line, "counter", ~0ull);
  if (line.contains("counted")) {
    if (number >= counters.size()) return false;
    read_figures(line, counters[number].figures);
    return true;
  }
  CounterLine counter;
  const auto kind = field<std::uint64_t>(line, "kind");
  counter.name = field<std::string>(line, "name");
  if (number != counters.size() || counter.name.empty() || kind != format::kFirstCounter + number ||
      number >= format::kMostCounters)
    return false;
  counter.kind = static_cast<std::uint8_t>(kind);
  counter.title = field<std::string>(line, "title");
  counter.interval = field<std::uint64_t>(line, "interval");
  counter.megahertz = field<std::uint64_t>(line, "mhz");
  counter.is_user_only = field<std::uint64_t>(line, "user_only") != 0;
  counters.push_back(std::move(counter));
  return true;
}

bool take_watch(const Json& line, std::vector<WatchLine>& watches) {
  const auto number = field<std::uint32_t>(line, "watch");
  const auto at = std::find_if(watches.begin(), watches.end(),
                               [&](const WatchLine& each) { return each.number == number; });
  if (line.contains("counted")) {
    if (at == watches.end()) return false;
    read_figures(line, at->figures);
    at->end = field<std::uint64_t>(line, "end");
    return true;
  }
  if (at != watches.end() || number == 0) return false;
  WatchLine watch;
  watch.number = number;
  watch.is_call = field<std::string>(line, "what") == "call";
  watch.has_reads = field<std::uint64_t>(line, "reads") != 0;
  watch.name = field<std::string>(line, "name");
  watch.address = hex(line, "address");
  watch.size = field<std::uint64_t>(line, "size");
  watch.interval = std::max<std::uint64_t>(field<std::uint64_t>(line, "interval"), 1);
  watch.hit_cost = Nanoseconds{field<std::uint64_t>(line, "hit_cost")};
  watch.begin = field<std::uint64_t>(line, "time");
  watches.push_back(std::move(watch));
  return true;
}

template <typename Line>
std::vector<Line> lines_of(const std::string& path, std::uint64_t session,
                           bool (*take)(const Json&, std::vector<Line>&)) {
  std::vector<Line> lines;
  std::uint64_t at = 0;
  static_cast<void>(
      each_new_line(path, session, at, [&](const Json& line) { return take(line, lines); }));
  return lines;
}

}  // namespace

std::vector<CounterLine> counters_of(const std::string& directory, std::uint64_t session) {
  return lines_of<CounterLine>(directory + "/" + format::kCountersFile, session, take_counter);
}

std::vector<WatchLine> watches_of(const std::string& directory, std::uint64_t session) {
  return lines_of<WatchLine>(directory + "/" + format::kWatchesFile, session, take_watch);
}

void add_counters(std::vector<EventLayout>& events, const std::vector<CounterLine>& counters) {
  const auto at = std::find_if(events.begin(), events.end(), [](const EventLayout& each) {
    return each.id == format::kFirstCounter;
  });
  if (at == events.end() || counters.empty()) return;
  const EventLayout row = *at;
  events.erase(at);
  for (const CounterLine& counter : counters) {
    events.push_back(row);
    events.back().id = counter.kind;
    events.back().name = counter.name;
  }
}

}  // namespace gnomon::reader
