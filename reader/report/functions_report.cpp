// Functions with the listed metrics. Any thread.
#include "reader/report/columns.h"
#include "reader/report/losses.h"
#include "reader/report/report.h"

namespace gnomon::reader {

Result<Table> functions_report(Analysis& analysis, const View& view) {
  auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  const MetricList list = of_functions(shown->metrics);
  // A function has no attributed value of its own.
  if (auto* by = std::get_if<MetricColumn>(&shown->sort.by);
      by && by->flavour == Flavour::attributed)
    by->flavour = Flavour::inclusive;
  Table table;
  table.title = "Functions sorted by metric: " + shown->sort.title();
  table.notes = all_notes(analysis, **profile, *shown);
  table.columns = columns_of(list);
  const auto add = [&](FunctionId id) {
    Row row;
    add_function_cells(row, list, **profile, id);
    row.push_back((*profile)->name(id));
    table.rows.push_back(std::move(row));
  };
  add((*profile)->total());
  const std::vector<FunctionId> functions = functions_in_order(*shown, **profile);
  for (const FunctionId id : functions) {
    if (view.limit != 0 && table.rows.size() == view.limit) break;
    if (view.interrupt.asked(table.rows.size())) return interrupted();
    add(id);
  }
  table.left_out = {functions.size() + 1 - table.rows.size(), "functions"};
  return table;
}

}  // namespace gnomon::reader
