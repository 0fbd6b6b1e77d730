// Waits by call stack, and what others did meanwhile that had to end first. Any thread, one at a
// time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "reader/report/traced/blame.h"
#include "reader/report/traced/holders.h"
#include "reader/report/traced/stack_list.h"
#include "reader/report/traced/sync_reports.h"

namespace gnomon::reader {
namespace {

constexpr std::size_t kBlamesShown = 5, kFramesShown = 3;

// The same of several experiments, with lines in place of call stacks, and the names of threads: of
// many that do the same a program gives each the same name.
struct PlacedBlame {
  Blamed what;
  std::string thread;  // empty: it has no name of its own
  std::vector<PlaceId> path;
  auto operator<=>(const PlacedBlame&) const = default;
};
struct Blames {
  std::uint64_t time = 0;  // ns
  Holders threads;
};

struct Waiters {
  std::vector<PlaceId> path;
  std::uint64_t waits = 0, time = 0;  // ns
  std::map<PlacedBlame, Blames> blames;
};

PlacedBlame placed(const Blame& blame, std::size_t part, const StackList& stacks,
                   const HolderNames& names) {
  PlacedBlame own{blame.what, names.name_of(part, blame.thread), {}};
  if (blame.stack == 0) return own;
  own.path = stacks.path_of(part, blame.stack);
  if (blame.what == Blamed::slept || blame.what == Blamed::locked)
    own.path = stacks.own_path(own.path);
  if (blame.what == Blamed::waited_in) own.path = stacks.called_path(own.path);
  return own;
}

Result<std::vector<Waiters>> waiters_of(Analysis& analysis, const StackList& stacks,
                                        const Interrupt& interrupt) {
  const HolderNames names(analysis);
  std::map<std::vector<PlaceId>, Waiters> by_path;
  for (std::size_t number = 0; number < analysis.parts().size(); ++number) {
    const auto pasts = pasts_of(*analysis.parts()[number], interrupt);
    if (!pasts) return tl::unexpected(pasts.error());
    std::map<std::vector<PlaceId>, BlameSum> sums;
    std::uint64_t step = 0;
    for (const auto& [thread, past] : *pasts)
      for (const RecordedWait& wait : past.waits) {
        if (interrupt.asked(++step)) return interrupted();
        if (!wait.is_chosen) continue;
        const auto path = stacks.path_of(number, wait.stack);
        Waiters& own = by_path[path];
        ++own.waits;
        own.time += wait.end - wait.begin;
        sums.try_emplace(path, *pasts).first->second.add(wait);
      }
    for (const auto& [path, sum] : sums)
      for (const auto& [blame, time] : sum.shares()) {
        Blames& own = by_path[path].blames[placed(blame, number, stacks, names)];
        own.time += time;
        own.threads.emplace(number, blame.thread);
      }
  }
  std::vector<Waiters> sorted;
  for (auto& [path, own] : by_path) {
    own.path = path;
    sorted.push_back(std::move(own));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Waiters& a, const Waiters& b) { return a.time > b.time; });
  return sorted;
}

const char* verb_of(Blamed what) {
  switch (what) {
    case Blamed::ran:
      return "ran in ";
    case Blamed::slept:
      return "slept in ";
    case Blamed::locked:
      return "waited for a lock in ";
    case Blamed::stopped:
      return "was stopped in ";
    default:
      return "waited in ";
  }
}

std::vector<std::string> texts_of(const PlacedBlame& blame, const Blames& own,
                                  const StackList& stacks) {
  if (blame.what == Blamed::unknown) return {"nobody is known who held it"};
  if (blame.what == Blamed::off_cpu)
    return {"the holder was not on a CPU, or for less than the clock's interval"};
  if (blame.what == Blamed::too_short)
    return {"the holder ran, for less than the clock's interval"};
  const std::string holder = holder_text(blame.thread, own.threads);
  if (blame.what == Blamed::wanted_cpu) return {holder + " waited for a CPU"};
  if (blame.path.empty()) return {holder + " waited; where is not known"};
  std::vector<std::string> names = stacks.names_of(blame.path);
  if (names.size() > kFramesShown) names.resize(kFramesShown);
  names.front() = fmt::format("{} {}{}", holder, verb_of(blame.what), names.front());
  for (std::size_t i = 1; i < names.size(); ++i) names[i] = "  called by " + names[i];
  return names;
}

class BlockersTable {
 public:
  explicit BlockersTable(const StackList& stacks) : stacks_(stacks) {
    table.columns = {{"time", {"Total", "", "sec."}, true, Type::time},
                     {"waits", {"Waits"}, true, Type::count},
                     {"share", {"Share", "", "%"}, true, Type::percent},
                     {"stack", {}, false, Type::count},
                     {"blame", {}, false, Type::count},
                     {"name", {"Name"}}};
  }

  void add(std::uint64_t number, const Waiters& waiters, std::uint64_t all) {
    number_ = number;
    blame_ = 0;
    std::string mark = fmt::format("{:>4}  ", number);
    bool is_first = true;
    for (std::string& name : stacks_.names_of(waiters.path)) {
      if (is_first)
        put(waiters.time, waiters.waits, percent_of(waiters.time, all), mark, std::move(name));
      else
        put_name(std::string(6, ' '), std::move(name));
      is_first = false;
    }
    add_blames(waiters);
  }

  Table table;

 private:
  static double percent_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  }

  void add_blames(const Waiters& waiters) {
    std::vector<std::pair<PlacedBlame, Blames>> blames(waiters.blames.begin(),
                                                       waiters.blames.end());
    std::stable_sort(blames.begin(), blames.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < blames.size(); ++i) {
      if (i >= kBlamesShown) {
        rest += blames[i].second.time;
        continue;
      }
      ++blame_;
      bool is_first = true;
      for (std::string& text : texts_of(blames[i].first, blames[i].second, stacks_)) {
        if (is_first)
          put(blames[i].second.time, 0, percent_of(blames[i].second.time, waiters.time),
              "      <- ", std::move(text));
        else
          put_name("         ", std::move(text));
        is_first = false;
      }
    }
    ++blame_;
    if (rest != 0)
      put(rest, 0, percent_of(rest, waiters.time), "      <- ",
          counted(blames.size() - kBlamesShown, "other place"));
  }

  void put(std::uint64_t time, std::uint64_t waits, double share, std::string mark,
           std::string name) {
    Row row;
    row.emplace_back(Nanoseconds{time});
    row.emplace_back(Empty{});
    if (waits != 0) row.back() = waits;
    row.emplace_back(Percent{share});
    finish(std::move(row), std::move(mark), std::move(name));
  }
  void put_name(std::string mark, std::string name) {
    Row row;
    for (int i = 0; i < 3; ++i) row.emplace_back(Empty{});
    finish(std::move(row), std::move(mark), std::move(name));
  }
  void finish(Row row, std::string mark, std::string name) {
    row.emplace_back(number_);
    row.emplace_back(blame_);
    row.emplace_back(Label{std::move(mark), std::move(name)});
    table.rows.push_back(std::move(row));
  }

  const StackList& stacks_;
  std::uint64_t number_ = 0, blame_ = 0;
};

}  // namespace

Result<Table> blockers_report(Analysis& analysis, const View& view) {
  if (auto has = has_waits(analysis); !has) return tl::unexpected(has.error());
  const auto stacks = StackList::of(analysis, view, wait_metrics());
  if (!stacks) return tl::unexpected(stacks.error());
  const auto waiters = waiters_of(analysis, *stacks, view.interrupt);
  if (!waiters) return tl::unexpected(waiters.error());
  std::uint64_t waits = 0, time = 0;
  for (const Waiters& each : *waiters) {
    waits += each.waits;
    time += each.time;
  }
  BlockersTable blockers(*stacks);
  blockers.table.title = fmt::format(
      "Waits by call stack, and what the awaited threads did meanwhile: {}, {}, {:.3f} s",
      counted(waiters->size(), "call stack"), counted(waits, "wait"), seconds(Nanoseconds{time}));
  for (std::size_t i = 0; i < waiters->size(); ++i) {
    if (view.limit != 0 && i == view.limit) {
      blockers.table.left_out = {waiters->size() - i, "call stacks"};
      break;
    }
    blockers.add(i + 1, (*waiters)[i], time);
  }
  return stacks->with_losses(std::move(blockers.table), analysis);
}

}  // namespace gnomon::reader
