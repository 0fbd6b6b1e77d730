// A table of items, one a row: metrics, then the name. Any thread.
#pragma once
#include <functional>
#include <vector>

#include "reader/report/base/items.h"

namespace gnomon::reader {

// What a list has besides: columns before the metrics, and their cells.
struct ExtraColumns {
  std::vector<Column> columns = {};
  std::function<void(Row&, std::uint32_t item)> add = {};
};

// <Total> first. list: the columns, of exclusive, inclusive and static values. Fault: the user
// interrupted.
Result<Table> item_list(const Items& items, const MetricList& list, const Shown& shown,
                        const View& view, const ExtraColumns& extra = {});

}  // namespace gnomon::reader
