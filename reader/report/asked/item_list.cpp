// A table of items, one a row. Any thread.
#include "reader/report/asked/item_list.h"

namespace gnomon::reader {

Result<Table> item_list(const Items& items, const MetricList& list, const Shown& shown,
                        const View& view, const ExtraColumns& extra) {
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

}  // namespace gnomon::reader
