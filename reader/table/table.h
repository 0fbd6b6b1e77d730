// A table of typed cells, before it becomes text or JSON. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "reader/base/units.h"

namespace gnomon::reader {

struct Percent {
  double value = 0;
};

using Cell = std::variant<std::string, std::uint64_t, Nanoseconds, Percent>;

struct Column {
  std::string id;                  // in JSON
  std::vector<std::string> title;  // lines, the unit last
};

struct Table {
  std::string title;
  std::vector<std::string> notes;  // what was lost or cannot be trusted; printed above the rows
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as columns
};

// Numbers to the right, text to the left.
std::string to_text(const Table& table);
// {"title", "notes", "columns", "rows": [{column id: value}]}; times in seconds.
std::string to_json(const Table& table);

}  // namespace gnomon::reader
