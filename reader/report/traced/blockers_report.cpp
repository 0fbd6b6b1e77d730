// Waits by call stack, and what others did meanwhile that had to end first. Any thread, one at a
// time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "reader/report/traced/blame.h"
#include "reader/report/traced/stack_list.h"
#include "reader/report/traced/sync_reports.h"

namespace gnomon::reader {
namespace {

constexpr std::size_t kBlamesShown = 5, kFramesShown = 3;

// The same of several experiments, with lines in place of call stacks.
using PlacedBlame = std::pair<Blamed, std::vector<PlaceId>>;

struct Waiters {
  std::vector<PlaceId> path;
  std::uint64_t waits = 0, time = 0;  // ns
  std::map<PlacedBlame, std::uint64_t> blames;
};

Result<std::vector<Waiters>> waiters_of(Analysis& analysis, const StackList& stacks,
                                        const Interrupt& interrupt) {
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
      for (const auto& [blame, time] : sum.shares())
        by_path[path]
            .blames[{blame.what, blame.stack == 0 ? std::vector<PlaceId>()
                                                  : stacks.path_of(number, blame.stack)}] += time;
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

std::vector<std::string> texts_of(const PlacedBlame& blame, const StackList& stacks) {
  if (blame.first == Blamed::unknown) return {"nobody is known who held it"};
  if (blame.first == Blamed::off_cpu)
    return {"the holder was not on a CPU, or for less than the clock's interval"};
  std::vector<std::string> names = stacks.names_of(blame.second);
  if (names.size() > kFramesShown) names.resize(kFramesShown);
  names.front() = (blame.first == Blamed::ran ? "ran in " : "waited itself in ") + names.front();
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
    std::vector<std::pair<PlacedBlame, std::uint64_t>> blames(waiters.blames.begin(),
                                                              waiters.blames.end());
    std::stable_sort(blames.begin(), blames.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < blames.size(); ++i) {
      if (i >= kBlamesShown) {
        rest += blames[i].second;
        continue;
      }
      ++blame_;
      bool is_first = true;
      for (std::string& text : texts_of(blames[i].first, stacks_)) {
        if (is_first)
          put(blames[i].second, 0, percent_of(blames[i].second, waiters.time), "      <- ",
              std::move(text));
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
