// Reports about several experiments beside each other. Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/metrics/metric_list.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// on: the values of each. delta, ratio: those of the first, and by how much the others differ from
// them. (er_print(1), "compare".)
enum class Comparison : std::uint8_t { off, on, delta, ratio };
std::optional<Comparison> comparison_named(std::string_view name);
std::string_view name_of(Comparison comparison);

struct Compared {
  std::string label;  // "test.1.er"
  Table table;        // all its rows
};

// Joins lists of items of one kind and with the same columns by the names of the items; an item
// that a list lacks has zeros there. By the largest value of the column that `sort` names, or
// difference of it; <Total> is the first. limit: rows; 0: all.
Result<Table> compare(const std::vector<Compared>& lists, Comparison how, const Sort& sort,
                      std::size_t limit, const Interrupt& interrupt);

}  // namespace gnomon::reader
