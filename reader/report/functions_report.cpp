// Functions with exclusive and inclusive User CPU time. Any thread.
#include <algorithm>
#include <map>
#include <vector>

#include "reader/experiment/events.h"
#include "reader/experiment/experiment.h"
#include "reader/experiment/stacks.h"
#include "reader/metrics/functions.h"
#include "reader/report/losses.h"
#include "reader/report/report.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {
namespace {

struct Sums {
  std::vector<FunctionTime> functions;
  StackSum truncated;
};

Result<Sums> sum_functions(const ClockSums& events, const Stacks& stacks, AddressSpace& space) {
  FunctionTimes times;
  Sums sums;
  WeightedStack stack;
  for (std::uint32_t id = 1; id < events.by_stack.size(); ++id) {
    const StackSum& sum = events.by_stack[id];
    if (sum.samples == 0) continue;
    stack.time = sum.time;
    stack.frames.clear();
    for (StackId at{id}; at != StackId::none; at = stacks.parent(at)) {
      if (!stacks.contains(at))
        return fault("the experiment is damaged: an event's call stack is missing", "record again");
      const std::uint64_t pc = stacks.node(at).pc;
      const bool cut = pc == format::kTruncatedMarker;
      stack.frames.push_back(cut ? space.named("<Truncated-stack>") : space.function_at(pc));
      if (!cut) continue;
      sums.truncated.time += sum.time;
      sums.truncated.samples += sum.samples;
    }
    times.add(stack);
  }
  sums.functions = std::move(times).take();
  return sums;
}

// Names that several functions share are told apart by their load object.
std::vector<std::string> row_names(const std::vector<FunctionTime>& functions,
                                   const AddressSpace& space) {
  std::map<std::string, int> uses;
  for (const FunctionTime& f : functions) ++uses[space.function(f.function).name];
  std::vector<std::string> names;
  for (const FunctionTime& f : functions) {
    const Function& function = space.function(f.function);
    const bool shared = uses[function.name] > 1 && !function.object.empty();
    names.push_back(shared ? function.name + " (" +
                                 function.object.substr(function.object.rfind('/') + 1) + ")"
                           : function.name);
  }
  return names;
}

Percent percent(Nanoseconds part, Nanoseconds whole) {
  return {whole.value == 0 ? 0 : 100.0 * seconds(part) / seconds(whole)};
}

}  // namespace

Result<Table> functions_report(const std::string& directory) {
  auto experiment = open_experiment(directory);
  if (!experiment) return tl::unexpected(experiment.error());
  auto events = sum_clock_samples(*experiment);
  if (!events) return tl::unexpected(events.error());
  auto stacks = Stacks::open(*experiment);
  if (!stacks) return tl::unexpected(stacks.error());
  // A call stack may lie in an object that was loaded since the map was read.
  if (auto again = open_experiment(directory)) experiment->objects = std::move(again->objects);
  AddressSpace space(experiment->objects);
  auto sums = sum_functions(*events, *stacks, space);
  if (!sums) return tl::unexpected(sums.error());

  std::sort(sums->functions.begin(), sums->functions.end(),
            [&](const FunctionTime& a, const FunctionTime& b) {
              if (a.exclusive != b.exclusive) return a.exclusive > b.exclusive;
              if (a.inclusive != b.inclusive) return a.inclusive > b.inclusive;
              return space.function(a.function).name < space.function(b.function).name;
            });
  Table table;
  table.title = "Functions sorted by metric: Exclusive User CPU Time";
  table.notes = loss_notes(*experiment, events->total, sums->truncated);
  for (const std::string& missing : space.faults()) table.notes.push_back("no symbols: " + missing);
  table.columns = {{"exclusive_user_cpu", {"Excl.", "User CPU", "sec."}},
                   {"exclusive_user_cpu_percent", {"", "", "%"}},
                   {"inclusive_user_cpu", {"Incl.", "User CPU", "sec."}},
                   {"inclusive_user_cpu_percent", {"", "", "%"}},
                   {"name", {"Name"}}};
  const Nanoseconds total = events->total.time;
  const auto add = [&](Nanoseconds exclusive, Nanoseconds inclusive, const std::string& name) {
    table.rows.push_back(
        {exclusive, percent(exclusive, total), inclusive, percent(inclusive, total), name});
  };
  add(total, total, "<Total>");
  const auto names = row_names(sums->functions, space);
  for (std::size_t i = 0; i < names.size(); ++i)
    add(sums->functions[i].exclusive, sums->functions[i].inclusive, names[i]);
  return table;
}

}  // namespace gnomon::reader
