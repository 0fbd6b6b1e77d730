// What a function's callers and callees contribute to it: of each function, or of one. Any thread.
#include <fmt/format.h>

#include <algorithm>

#include "reader/metrics/attributed.h"
#include "reader/report/profile.h"
#include "reader/report/report.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

class Panels {
 public:
  explicit Panels(Profile& profile)
      : profile_(profile), neighbours_(neighbours(profile.tree, profile.inclusive)) {
    table.notes = std::move(profile.notes);
    table.columns = {{"function", {}, false},
                     {"role", {}, false},
                     {"attributed_user_cpu", {"Attr.", "User CPU", "sec."}},
                     {"attributed_user_cpu_percent", {"", "", "%"}},
                     {"exclusive_user_cpu", {"Excl.", "User CPU", "sec."}},
                     {"inclusive_user_cpu", {"Incl.", "User CPU", "sec."}},
                     {"name", {"Name"}}};
  }

  void add(FunctionId centre) {
    if (!table.rows.empty()) table.groups.push_back(table.rows.size());
    Neighbours& around = neighbours_[index(centre)];
    sort(around.callers);
    for (const Attributed& caller : around.callers) add(centre, "caller", " ", caller);
    add(centre, "function", "*", {centre, profile_.functions.exclusive[index(centre)]});
    sort(around.callees);
    for (const Attributed& callee : around.callees) add(centre, "callee", " ", callee);
  }

  Table table;

 private:
  void sort(std::vector<Attributed>& edges) const {
    std::sort(edges.begin(), edges.end(), [&](const Attributed& a, const Attributed& b) {
      if (a.value != b.value) return a.value > b.value;
      return profile_.names[index(a.function)] < profile_.names[index(b.function)];
    });
  }

  void add(FunctionId centre, std::string role, const char* mark, const Attributed& edge) {
    const Nanoseconds time{edge.value};
    table.rows.push_back({profile_.names[index(centre)], std::move(role), time,
                          share(time, profile_.inclusive_of(centre)),
                          profile_.exclusive_of(edge.function),
                          profile_.inclusive_of(edge.function),
                          Label{mark, profile_.names[index(edge.function)], *mark == '*'}});
  }

  Profile& profile_;
  std::vector<Neighbours> neighbours_;
};

// The functions that `name` means: those it names fully, else those it names in part.
std::vector<FunctionId> meant(const Profile& profile, const std::string& name) {
  std::vector<FunctionId> fully, partly;
  const auto look = [&](FunctionId id) {
    const std::string& known = profile.names[index(id)];
    if (known == name) fully.push_back(id);
    if (names_function(name, known)) partly.push_back(id);
  };
  look(profile.tree.node(CallId::total).function);
  for (const FunctionId id : profile.by_weight) look(id);
  return fully.empty() ? partly : fully;
}

tl::unexpected<Fault> several(const Profile& profile, const std::vector<FunctionId>& functions,
                              const std::string& name) {
  constexpr std::size_t kShown = 9;
  std::string list;
  for (std::size_t i = 0; i < std::min(functions.size(), kShown); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, profile.names[index(functions[i])]);
  if (functions.size() > kShown) list += fmt::format(" and {} more", functions.size() - kShown);
  return fault(fmt::format("{} functions are meant by {}: {}", functions.size(), name, list),
               "append the number of one");
}

}  // namespace

Result<Table> callers_callees_report(const Query& query) {
  auto profile = open_profile(query.experiment, query.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  Panels panels(*profile);
  panels.table.title = "Callers and callees sorted by metric: Attributed User CPU Time";
  panels.add(profile->tree.node(CallId::total).function);
  std::size_t shown = 1;
  for (const FunctionId id : profile->by_weight) {
    if (query.limit != 0 && shown == query.limit) break;
    panels.add(id);
    ++shown;
  }
  panels.table.left_out = {profile->by_weight.size() + 1 - shown, "functions"};
  return std::move(panels.table);
}

Result<Table> csingle_report(const Query& query, const std::string& name, std::size_t number) {
  auto profile = open_profile(query.experiment, query.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  const std::vector<FunctionId> functions = meant(*profile, name);
  if (functions.empty())
    return fault("no sample has a function " + name + " on its call stack",
                 "`functions` lists those that were sampled");
  if (number == 0 && functions.size() > 1) return several(*profile, functions, name);
  if (number > functions.size())
    return fault(fmt::format("{} means {} function{}, not {}", name, functions.size(),
                             functions.size() == 1 ? "" : "s", number),
                 "omit the number, or give a smaller one");
  Panels panels(*profile);
  panels.table.title = "Callers and callees of one function. Metric: Attributed User CPU Time";
  panels.add(functions[number == 0 ? 0 : number - 1]);
  return std::move(panels.table);
}

}  // namespace gnomon::reader
