// Who touches an object that is watched, or calls a function. Any thread, one at a time.
#include "reader/report/traced/touch_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reader/report/asked/index_object.h"
#include "reader/report/notes/counter_notes.h"
#include "reader/report/traced/stack_list.h"

namespace gnomon::reader {
namespace {

constexpr const char* kRowMark = "        ";

struct Toucher {
  std::uint64_t count = 0;
  std::vector<std::string> names;  // of a call stack its frames, the innermost first
};

struct Touched {
  WatchLine watch;
  std::size_t part = 0;
  std::uint64_t count = 0;
  std::vector<Toucher> by;  // most first
};

// Of a call the caller is asked about, not the function itself.
std::vector<PlaceId> path_of(const StackList& stacks, std::size_t part, std::uint32_t stack,
                             bool is_call) {
  std::vector<PlaceId> path = stacks.path_of(part, stack);
  if (is_call && path.size() > 1) path.erase(path.begin());
  return path;
}

class Gatherer {
 public:
  Gatherer(Analysis& analysis, const StackList& stacks, bool is_call, TouchedBy by)
      : analysis_(analysis),
        stacks_(stacks),
        threads_(*index_object_named("Threads", {}), analysis),
        is_call_(is_call),
        by_(by) {}

  Result<void> gather(std::vector<Touched>& all, const Interrupt& interrupt) {
    for (std::size_t number = 0; number < analysis_.parts().size(); ++number) {
      Part& part = *analysis_.parts()[number];
      auto read = part.each_event(interrupt, [&](const Event& event) -> Result<void> {
        if (event.layout.name != (is_call_ ? "call" : "access")) return {};
        add(event, number, all);
        return {};
      });
      if (!read) return read;
    }
    for (Touched& each : all) sort(each);
    return {};
  }

 private:
  using Key = std::vector<std::string>;

  static std::uint64_t field_of(const Event& event, const char* name) {
    const auto* const field = event.layout.field(name);
    return field ? event.value(*field) : 0;
  }

  void add(const Event& event, std::size_t part, std::vector<Touched>& all) {
    const std::uint64_t watch = field_of(event, "watch");
    const auto at = std::find_if(all.begin(), all.end(), [&](const Touched& each) {
      return each.part == part && each.watch.number == watch;
    });
    if (at == all.end()) return;
    const std::uint64_t weight = field_of(event, "weight");
    at->count += weight;
    counts_[{part, watch}][key_of(event, part)] += weight;
  }

  Key key_of(const Event& event, std::size_t part) {
    if (by_ == TouchedBy::thread)
      return {threads_.of(static_cast<std::int64_t>((part + 1) << 32 | Part::thread_of(event)))};
    const auto stack = static_cast<std::uint32_t>(field_of(event, "stack"));
    const auto [at, is_new] = names_.try_emplace({part, stack});
    if (!is_new) return at->second;
    const std::vector<PlaceId> path = path_of(stacks_, part, stack, is_call_);
    if (by_ == TouchedBy::stack || path.empty())
      at->second = stacks_.names_of(path);
    else
      at->second = {by_ == TouchedBy::line ? stacks_.name_of(path.front())
                                           : stacks_.function_of(path.front())};
    return at->second;
  }

  void sort(Touched& touched) {
    for (auto& [key, count] : counts_[{touched.part, touched.watch.number}])
      touched.by.push_back({count, key});
    std::stable_sort(touched.by.begin(), touched.by.end(),
                     [](const Toucher& a, const Toucher& b) { return a.count > b.count; });
  }

  Analysis& analysis_;
  const StackList& stacks_;
  IndexNames threads_;
  bool is_call_;
  TouchedBy by_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::map<Key, std::uint64_t>> counts_;
  std::map<std::pair<std::size_t, std::uint32_t>, Key> names_;  // by part and call stack
};

std::vector<Touched> watched_in(const Analysis& analysis, bool is_call) {
  std::vector<Touched> all;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    const Experiment& experiment = analysis.parts()[number]->experiment();
    for (WatchLine& watch : watches_of(experiment.directory, experiment.header.session))
      if (watch.is_call == is_call) all.push_back({std::move(watch), number, 0, {}});
  }
  return all;
}

// "writes of counter, 4 bytes at 0x601040, from 0.5 s to 1.2 s"
std::string description(const Touched& touched, const Analysis& analysis) {
  const WatchLine& watch = touched.watch;
  const std::uint64_t start = analysis.parts()[touched.part]->experiment().control.start_time;
  const auto since = [&](std::uint64_t time) {
    return seconds(Nanoseconds{time - std::min(time, start)});
  };
  std::string text =
      watch.is_call
          ? fmt::format("calls of {} at {:#x}", one_line(watch.name), watch.address)
          : fmt::format("{} of {}, {} byte{} at {:#x}",
                        watch.has_reads ? "reads and writes" : "writes", one_line(watch.name),
                        watch.size, watch.size == 1 ? "" : "s", watch.address);
  if (watch.interval > 1) text += fmt::format(", one in {} recorded", watch.interval);
  text += fmt::format(", from {:.3f} s", since(watch.begin));
  if (watch.end != 0) text += fmt::format(" to {:.3f} s", since(watch.end));
  return text;
}

class TouchTable {
 public:
  explicit TouchTable(bool is_call) {
    table.columns = {
        {"count", {is_call ? "Calls" : "Accesses"}, true, Type::count},
        {"share", {"%"}, true, Type::percent},
        {"watch", {}, false, Type::count},
        {"item", {}, false, Type::count},
        {"frame", {}, false, Type::count},
        {"name", {"Name"}},
    };
  }

  void add(const Touched& touched, std::string what, const View& view) {
    if (!table.rows.empty()) table.groups.push_back(table.rows.size());
    const std::uint64_t watch = touched.watch.number;
    add_row(touched.count, 100, {watch, 0, 0}, {fmt::format("{:>4}  ", watch), std::move(what)});
    for (std::size_t i = 0; i < touched.by.size(); ++i) {
      if (view.limit != 0 && i == view.limit) {
        table.left_out.count += touched.by.size() - i;
        table.left_out.what = "rows";
        return;
      }
      add_toucher(touched, i);
    }
  }

  Table table;

 private:
  struct At {
    std::uint64_t watch, item, frame;
  };

  void add_toucher(const Touched& touched, std::size_t i) {
    const Toucher& toucher = touched.by[i];
    const double share = touched.count == 0 ? 0
                                            : 100 * static_cast<double>(toucher.count) /
                                                  static_cast<double>(touched.count);
    for (std::size_t frame = 0; frame < toucher.names.size(); ++frame) {
      const At at{touched.watch.number, i + 1, frame};
      Label label{frame == 0 ? kRowMark : std::string(kRowMark) + "  ", toucher.names[frame]};
      add_row(frame == 0 ? std::optional(toucher.count) : std::nullopt, share, at,
              std::move(label));
    }
  }

  void add_row(std::optional<std::uint64_t> count, double share, const At& at, Label name) {
    Row row;
    if (count) {
      row.emplace_back(*count);
      row.emplace_back(Percent{share});
    } else {
      row.emplace_back(Empty{});
      row.emplace_back(Empty{});
    }
    row.emplace_back(at.watch);
    row.emplace_back(at.item);
    row.emplace_back(at.frame);
    row.emplace_back(std::move(name));
    table.rows.push_back(std::move(row));
  }
};

tl::unexpected<Fault> nothing_watched(bool is_call) {
  return is_call ? fault("no function is watched",
                         "`collector calls FUNCTION` does that while the program is stopped in "
                         "LLDB")
                 : fault("no object is watched",
                         "`collector watch EXPRESSION` does that while the program is stopped in "
                         "LLDB");
}

std::string title_of(const std::vector<Touched>& all, bool is_call) {
  const std::string one = all.size() == 1 ? one_line(all.front().watch.name) : "";
  return fmt::format("{} {}, by who makes them", is_call ? "Calls of" : "Accesses to",
                     !one.empty() ? one
                     : is_call    ? "functions that are watched"
                                  : "objects that are watched");
}

MetricList metrics_of(bool is_call) {
  return *parse_metrics(is_call ? "e.calls:i.calls:name" : "e.accesses:i.accesses:name");
}

Result<Table> touch_report(Analysis& analysis, const View& view, bool is_call, TouchedBy by) {
  std::vector<Touched> all = watched_in(analysis, is_call);
  if (all.empty()) return nothing_watched(is_call);
  const bool has_events = analysis.sums().has(is_call ? kCalls : kAccesses);
  std::optional<StackList> stacks;
  if (has_events) {
    auto list = StackList::of(analysis, view, metrics_of(is_call));
    if (!list) return tl::unexpected(list.error());
    stacks.emplace(std::move(*list));
    if (auto done = Gatherer(analysis, *stacks, is_call, by).gather(all, view.interrupt); !done)
      return tl::unexpected(done.error());
  }
  TouchTable rows(is_call);
  rows.table.title = title_of(all, is_call);
  for (const Touched& each : all) {
    rows.add(each, description(each, analysis), view);
    add_count_losses(one_line(each.watch.name), each.watch.figures, each.watch.interval,
                     rows.table.notes);
  }
  if (!stacks) return std::move(rows.table);
  return stacks->with_losses(std::move(rows.table), analysis);
}

}  // namespace

Result<Table> accesses_report(Analysis& analysis, const View& view, TouchedBy by) {
  return touch_report(analysis, view, false, by);
}

Result<Table> calls_report(Analysis& analysis, const View& view, TouchedBy by) {
  return touch_report(analysis, view, true, by);
}

}  // namespace gnomon::reader
