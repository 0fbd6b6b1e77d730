// What threads waited for, and where. Any thread, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "reader/report/traced/holders.h"
#include "reader/report/traced/stack_list.h"
#include "reader/report/traced/sync_reports.h"
#include "reader/report/traced/waits.h"

namespace gnomon::reader {
namespace {

constexpr std::size_t kPlacesShown = 3;   // of an object, where it was waited for
constexpr std::size_t kHoldersShown = 3;  // of an object

struct WaitSum {
  std::uint64_t waits = 0, time = 0, longest = 0;  // ns
  std::uint64_t idle = 0;  // of that time, ns while the process used fewer CPUs than it had

  void add(const RecordedWait& wait, const CpuTimes& cpus) {
    const std::uint64_t duration = wait.end - wait.begin;
    ++waits;
    time += duration;
    longest = std::max(longest, duration);
    idle += cpus.idle(wait.begin, wait.end);
  }
  void add(const WaitSum& other) {
    waits += other.waits;
    time += other.time;
    longest = std::max(longest, other.longest);
    idle += other.idle;
  }
};

// Threads of one name that have taken the object there; the name is empty if they have none of
// their own, and the place is not known unless the taking was recorded.
struct Held {
  std::string name;
  std::optional<PlaceId> place;
  auto operator<=>(const Held&) const = default;
};
struct HeldSum {
  WaitSum sum;
  Holders threads;
};

struct WaitedFor {
  std::size_t part = 0;
  RecordedWait example;
  WaitSum sum;
  std::map<std::optional<PlaceId>, WaitSum> by_place;
  std::map<Held, HeldSum> by_holder;
};

// When threads have taken objects, as far as that was recorded.
class Takings {
 public:
  explicit Takings(const ThreadPasts& pasts) {
    for (const auto& [thread, past] : pasts)
      for (const RecordedWait& wait : past.waits)
        takings_[{thread, wait.object}].push_back({wait.end, wait.stack});
  }
  // Returns the call stack in which the holder took the object last before the wait ended; 0: not
  // known.
  std::uint32_t stack_of(const RecordedWait& wait) const {
    const auto at = takings_.find({wait.holder, wait.object});
    if (at == takings_.end()) return 0;
    const auto behind =
        std::upper_bound(at->second.begin(), at->second.end(), wait.end,
                         [](std::uint64_t time, const Taking& each) { return time < each.time; });
    return behind == at->second.begin() ? 0 : std::prev(behind)->stack;
  }

 private:
  struct Taking {
    std::uint64_t time;
    std::uint32_t stack;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Taking>> takings_;
};

// Returns true for objects that a thread has until it gives them back.
bool is_taken(std::uint32_t kind) {
  const auto what = static_cast<format::WaitKind>(kind);
  return what == format::WaitKind::mutex || what == format::WaitKind::read_lock ||
         what == format::WaitKind::write_lock || what == format::WaitKind::spin_lock;
}

// Of kind and address. The ends of all threads are one object.
using ObjectKey = std::tuple<std::size_t, std::uint32_t, std::uint64_t>;

// Sets knows_cpus to whether the experiments say how their processes used CPUs.
Result<std::vector<WaitedFor>> objects_of(Analysis& analysis, const StackList& stacks,
                                          bool& knows_cpus, const Interrupt& interrupt) {
  knows_cpus = true;
  const HolderNames names(analysis);
  std::map<ObjectKey, WaitedFor> objects;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    const auto pasts = pasts_of(*analysis.parts()[number], interrupt);
    if (!pasts) return tl::unexpected(pasts.error());
    const auto cpus = cpu_times_of(*analysis.parts()[number], interrupt);
    if (!cpus) return tl::unexpected(cpus.error());
    knows_cpus &= cpus->is_known();
    const Takings takings(*pasts);
    for (const auto& [thread, past] : *pasts)
      for (const RecordedWait& wait : past.waits) {
        if (!wait.is_chosen) continue;
        const bool is_join = wait.kind == static_cast<std::uint32_t>(format::WaitKind::join);
        WaitedFor& own = objects[{number, wait.kind, is_join ? 0 : wait.object}];
        own.part = number;
        own.example = wait;
        own.sum.add(wait, *cpus);
        own.by_place[stacks.own_place(stacks.path_of(number, wait.stack))].add(wait, *cpus);
        if (wait.holder == 0 || !is_taken(wait.kind)) continue;
        const std::uint32_t taken = takings.stack_of(wait);
        const auto place =
            taken == 0 ? std::nullopt : stacks.own_place(stacks.path_of(number, taken));
        HeldSum& held = own.by_holder[{names.name_of(number, wait.holder), place}];
        held.sum.add(wait, *cpus);
        held.threads.emplace(number, wait.holder);
      }
  }
  std::vector<WaitedFor> sorted;
  for (auto& [key, own] : objects) sorted.push_back(std::move(own));
  std::stable_sort(sorted.begin(), sorted.end(), [](const WaitedFor& a, const WaitedFor& b) {
    return std::tuple(a.sum.time, a.sum.waits) > std::tuple(b.sum.time, b.sum.waits);
  });
  return sorted;
}

Row row_of(const WaitSum& sum, bool knows_cpus) {
  Row row;
  row.emplace_back(Nanoseconds{sum.time});
  row.emplace_back(sum.waits);
  row.emplace_back(ShortTime{{sum.time / std::max<std::uint64_t>(sum.waits, 1)}});
  row.emplace_back(ShortTime{{sum.longest}});
  if (knows_cpus)
    row.emplace_back(Percent{
        sum.time == 0 ? 0 : 100 * static_cast<double>(sum.idle) / static_cast<double>(sum.time)});
  return row;
}

void add_object(Table& table, std::uint64_t number, const WaitedFor& object, std::string name,
                const StackList& stacks, bool knows_cpus) {
  const auto add = [&](const WaitSum& sum, std::uint64_t place, std::string mark,
                       std::string text) {
    Row row = row_of(sum, knows_cpus);
    row.emplace_back(number);
    row.emplace_back(place);
    row.emplace_back(Label{std::move(mark), std::move(text)});
    table.rows.push_back(std::move(row));
  };
  add(object.sum, 0, fmt::format("{:>4}  ", number), std::move(name));
  std::vector<std::pair<std::optional<PlaceId>, WaitSum>> places(object.by_place.begin(),
                                                                 object.by_place.end());
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  WaitSum rest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [place, sum] = places[i];
    if (i < kPlacesShown) {
      add(sum, i + 1, "        in ", place ? stacks.name_of(*place) : "<no call stack>");
      continue;
    }
    rest.add(sum);
  }
  if (rest.waits != 0)
    add(rest, kPlacesShown + 1, "        in ", counted(places.size() - kPlacesShown, "more line"));
  std::vector<std::pair<Held, HeldSum>> holders(object.by_holder.begin(), object.by_holder.end());
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
    return a.second.sum.time > b.second.sum.time;
  });
  for (std::size_t i = 0; i < std::min(holders.size(), kHoldersShown); ++i) {
    const auto& [held, sum] = holders[i];
    add(sum.sum, kPlacesShown + 2 + i, "   held by ",
        holder_text(held.name, sum.threads) +
            (held.place ? ", who took it in " + stacks.name_of(*held.place) : ""));
  }
}

}  // namespace

Result<Table> sync_report(Analysis& analysis, const View& view) {
  if (auto has = has_waits(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, wait_metrics());
  if (!stacks) return tl::unexpected(stacks.error());
  bool knows_cpus = false;
  const auto objects = objects_of(analysis, *stacks, knows_cpus, view.interrupt);
  if (!objects) return tl::unexpected(objects.error());
  WaitSum all;
  for (const WaitedFor& object : *objects) {
    all.waits += object.sum.waits;
    all.time += object.sum.time;
  }
  Table table;
  table.title = fmt::format("Waits for other threads, by what was waited for: {}, {}, {:.3f} s",
                            counted(objects->size(), "object"), counted(all.waits, "wait"),
                            seconds(Nanoseconds{all.time}));
  table.columns = {{"time", {"Total", "", "sec."}, true, Type::time},
                   {"waits", {"Waits"}, true, Type::count},
                   {"mean", {"Mean", "", "msec."}, true, Type::time},
                   {"longest", {"Longest", "", "msec."}, true, Type::time}};
  if (knows_cpus)
    table.columns.push_back({"idle_share", {"CPU idle", "", "%"}, true, Type::percent});
  for (Column column : std::initializer_list<Column>{{"object", {}, false, Type::count},
                                                     {"place", {}, false, Type::count},
                                                     {"name", {"Name"}}})
    table.columns.push_back(std::move(column));
  ObjectNames names(analysis, *stacks);
  for (std::size_t i = 0; i < objects->size(); ++i) {
    if (view.limit != 0 && i == view.limit) {
      table.left_out = {objects->size() - i, "objects"};
      break;
    }
    const WaitedFor& object = (*objects)[i];
    add_object(table, i + 1, object, names.name_of(object.part, object.example, view.interrupt),
               *stacks, knows_cpus);
  }
  return stacks->with_losses(std::move(table), analysis);
}

}  // namespace gnomon::reader
