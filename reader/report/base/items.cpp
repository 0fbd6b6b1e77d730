// What a report lists, one a row. Any thread.
#include "reader/report/base/items.h"

#include <fmt/format.h>

#include <algorithm>

#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// What an item is put in order by: descending values first, then the name.
struct Weight {
  std::uint64_t first, second;
  std::string name;
  std::uint32_t item;
};

Cell static_cell(Static id, const Items& items, std::uint32_t item) {
  if (id == Static::size) return items.bytes(item) == 0 ? Cell(Empty{}) : Cell(items.bytes(item));
  const auto address = items.address(item);
  return address ? Cell(Address{*address}) : Cell(Empty{});
}

}  // namespace

std::optional<std::uint64_t> FunctionItems::address(std::uint32_t item) const {
  const Function& own = function(item);
  return own.object.empty() || own.is_inlined ? std::nullopt : std::optional(own.address);
}

std::string_view PlaceItems::plural() const {
  return places_.grain() == Grain::instruction ? "instructions"
         : places_.grain() == Grain::object    ? "load objects"
                                               : "lines";
}

const std::string& PlaceItems::function_name(std::uint32_t item) const {
  const FunctionId id = place(item).function;
  return index(id) < functions_.functions() ? functions_.name(id) : function(item).name;
}

std::string PlaceItems::source_file(std::uint32_t item) const {
  const SourcePlace& source = place(item).source;
  return source.is_known() ? places_.places().files().path(source.file) : "";
}

Phrase PlaceItems::name(std::uint32_t item) const {
  const std::string& whole = function_name(item);
  if (function(item).object.empty()) return {"", whole, ""};
  if (places_.grain() == Grain::object) return {"", function(item).object, ""};
  const std::string path = source_file(item);
  const std::string line = path.empty()
                               ? ""
                               : fmt::format(", line {} in \"{}\"", place(item).source.line,
                                             path.substr(path.rfind('/') + 1));
  if (places_.grain() == Grain::instruction)
    return {"", whole,
            fmt::format(" + {:#010x}{}", place(item).address - function(item).address, line)};
  const std::string stem(without_clone(whole));
  if (path.empty()) return {"<Function: ", stem, ", instructions without line numbers>"};
  return {"", stem, line};
}

std::optional<std::uint64_t> PlaceItems::address(std::uint32_t item) const {
  if (places_.grain() != Grain::instruction || function(item).object.empty()) return std::nullopt;
  return place(item).address;
}

std::uint64_t PlaceItems::value(Flavour flavour, MetricId metric, std::uint32_t item) const {
  const PlaceValues& all = places_.values(metric);
  if (item == total()) return all.total;
  return (flavour == Flavour::exclusive ? all.exclusive : all.inclusive)[item];
}

std::vector<std::uint32_t> in_order(const Shown& shown, const Items& items) {
  const auto* by = std::get_if<MetricColumn>(&shown.sort.by);
  std::vector<MetricId> metrics = shown.metrics.metrics();
  if (by) metrics.push_back(by->metric);
  const bool is_exclusive = by && by->flavour == Flavour::exclusive;
  const auto weight = [&](std::uint32_t item) -> Weight {
    if (!by) {
      const bool is_size = std::get<Static>(shown.sort.by) == Static::size;
      const bool is_address = std::get<Static>(shown.sort.by) == Static::address;
      return {is_size      ? items.bytes(item)
              : is_address ? ~items.address(item).value_or(0)
                           : 0,
              0, items.order(item), item};
    }
    const std::uint64_t exclusive = items.value(Flavour::exclusive, by->metric, item);
    const std::uint64_t inclusive = items.value(Flavour::inclusive, by->metric, item);
    return {is_exclusive ? exclusive : inclusive, is_exclusive ? inclusive : exclusive,
            items.order(item), item};
  };
  std::vector<Weight> weights;
  for (std::uint32_t item = 0; item < items.size(); ++item)
    if (item != items.total() && std::any_of(metrics.begin(), metrics.end(), [&](MetricId metric) {
          return items.value(Flavour::inclusive, metric, item) != 0;
        }))
      weights.push_back(weight(item));
  std::sort(weights.begin(), weights.end(), [&](const Weight& a, const Weight& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second != b.second) return a.second > b.second;
    return a.name < b.name;
  });
  if (shown.sort.is_reversed) std::reverse(weights.begin(), weights.end());
  std::vector<std::uint32_t> order;
  for (const Weight& each : weights) order.push_back(each.item);
  return order;
}

void add_item_cells(Row& row, const MetricList& list, const Items& items, std::uint32_t item) {
  for (const auto& each : list.columns) {
    if (const auto* id = std::get_if<Static>(&each)) {
      if (*id != Static::name) row.push_back(static_cell(*id, items, item));
      continue;
    }
    const auto& column = std::get<MetricColumn>(each);
    if (column.flavour == Flavour::attributed) continue;
    const std::uint64_t value = items.value(column.flavour, column.metric, item);
    row.push_back(column.is_percent
                      ? share_cell(value, items.value(column.flavour, column.metric, items.total()))
                      : value_cell(column.metric, value));
  }
}

}  // namespace gnomon::reader
