// Functions with exclusive and inclusive User CPU time. Any thread.
#include "reader/report/profile.h"
#include "reader/report/report.h"

namespace gnomon::reader {

Result<Table> functions_report(const Query& query) {
  auto profile = open_profile(query.experiment, query.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  Table table;
  table.title = "Functions sorted by metric: Exclusive User CPU Time";
  table.notes = std::move(profile->notes);
  table.columns = {{"exclusive_user_cpu", {"Excl.", "User CPU", "sec."}},
                   {"exclusive_user_cpu_percent", {"", "", "%"}},
                   {"inclusive_user_cpu", {"Incl.", "User CPU", "sec."}},
                   {"inclusive_user_cpu_percent", {"", "", "%"}},
                   {"name", {"Name"}}};
  const Nanoseconds total = profile->total.time;
  const auto add = [&](Nanoseconds exclusive, Nanoseconds inclusive, const std::string& name) {
    table.rows.push_back(
        {exclusive, share(exclusive, total), inclusive, share(inclusive, total), name});
  };
  add(total, total, "<Total>");
  for (const FunctionId id : profile->by_weight) {
    if (query.limit != 0 && table.rows.size() == query.limit) break;
    add(profile->exclusive_of(id), profile->inclusive_of(id), profile->names[index(id)]);
  }
  table.left_out = {profile->by_weight.size() + 1 - table.rows.size(), "functions"};
  return table;
}

}  // namespace gnomon::reader
