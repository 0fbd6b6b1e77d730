// Functions, lines or instructions with the listed metrics. Any thread.
#include <functional>

#include "reader/report/asked.h"
#include "reader/report/line_notes.h"
#include "reader/report/report.h"

namespace gnomon::reader {
namespace {

// What a list has besides the metrics: columns before the name, and their cells.
struct Extra {
  std::vector<Column> columns;
  std::function<void(Row&, std::uint32_t item)> add;
};

Result<Table> listed(const Items& items, const Shown& shown, const View& view, const Extra& extra) {
  const MetricList list = of_items(shown.metrics);
  Table table;
  table.columns = extra.columns;
  for (Column& column : columns_of(list)) table.columns.push_back(std::move(column));
  const auto add = [&](std::uint32_t item) {
    Row row;
    if (extra.add) extra.add(row, item);
    add_item_cells(row, list, items, item);
    row.emplace_back(items.name(item));
    table.rows.push_back(std::move(row));
  };
  add(items.total());
  const std::vector<std::uint32_t> order = in_order(shown, items);
  for (const std::uint32_t item : order) {
    if (view.limit != 0 && table.rows.size() == view.limit) break;
    if (view.interrupt.asked(table.rows.size())) return interrupted();
    add(item);
  }
  table.left_out = {order.size() + 1 - table.rows.size(), std::string(items.plural())};
  return table;
}

// For those who read JSON or CSV: what the name says of a place.
Extra parts_of(const PlaceItems& items) {
  Extra extra;
  extra.columns = {{"function", {}, false},
                   {"load_object", {}, false},
                   {"source_file", {}, false},
                   {"line", {}, false, Type::count}};
  extra.add = [&items](Row& row, std::uint32_t item) {
    const std::string file = items.source_file(item);
    row.emplace_back(items.function_name(item));
    row.emplace_back(items.function(item).object);
    row.emplace_back(file);
    row.push_back(file.empty() ? Cell(Empty{})
                               : Cell(std::uint64_t{items.place(item).source.line}));
  };
  return extra;
}

Result<Table> places_report(Analysis& analysis, const View& view, Grain grain,
                            std::string_view title) {
  const auto found = ask_places(analysis, view, grain);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  auto table = listed(items, asked.shown, view, parts_of(items));
  if (!table) return table;
  table->title = std::string(title) + asked.shown.sort.title();
  table->notes = line_notes(analysis, items);
  return with_losses(std::move(table), analysis, asked);
}

}  // namespace

Result<Table> functions_report(Analysis& analysis, const View& view) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  auto table = listed(FunctionItems(*asked->profile), asked->shown, view, {});
  if (!table) return table;
  table->title = "Functions sorted by metric: " + asked->shown.sort.title();
  return with_losses(std::move(table), analysis, *asked);
}

Result<Table> lines_report(Analysis& analysis, const View& view) {
  return places_report(analysis, view, Grain::line, "Lines sorted by metric: ");
}

Result<Table> pcs_report(Analysis& analysis, const View& view) {
  return places_report(analysis, view, Grain::instruction, "PCs sorted by metric: ");
}

}  // namespace gnomon::reader
