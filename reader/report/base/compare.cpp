// Reports about several experiments beside each other. Any thread.
#include "reader/report/base/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>

#include "reader/report/base/columns.h"
#include "reader/symbols/address_space.h"

namespace gnomon::reader {
namespace {

constexpr std::array<std::string_view, 4> kComparisons{"off", "on", "delta", "ratio"};

struct Value {
  bool is_known = false;
  std::uint64_t value = 0;
};

Value value_of(const Cell& cell) {
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) return {true, *count};
  if (const auto* time = std::get_if<Nanoseconds>(&cell)) return {true, time->value};
  return {};
}

std::string name_of(const Cell& cell) {
  if (const auto* phrase = std::get_if<Phrase>(&cell)) return phrase->text();
  if (const auto* label = std::get_if<Label>(&cell)) return label->name;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

bool is_amount(Type type) {
  return type == Type::count || type == Type::bytes || type == Type::time;
}

Cell zero_of(Type type) {
  if (type == Type::time) return Nanoseconds{0};
  if (type == Type::percent) return Percent{0};
  if (is_amount(type)) return std::uint64_t{0};
  return Empty{};
}

// An item and its rows in the lists; null: the list lacks it.
struct Item {
  Cell name;
  std::vector<std::unique_ptr<Row>> rows;
};

class Comparer {
 public:
  Comparer(const std::vector<Compared>& lists, Comparison how) : lists_(lists), how_(how) {}

  Result<void> read(const Interrupt& interrupt) {
    std::map<std::string, std::size_t> numbers;
    std::uint64_t rows = 0;
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      auto done = lists_[list].table.each_row([&](const Row& row) -> Result<void> {
        if (interrupt.asked(rows++)) return interrupted();
        const auto [at, is_new] = numbers.try_emplace(name_of(row.back()), items_.size());
        if (is_new) {
          items_.push_back({row.back(), {}});
          items_.back().rows.resize(lists_.size());
        }
        items_[at->second].rows[list] = std::make_unique<Row>(row);
        return {};
      });
      if (!done) return done;
    }
    return {};
  }

  // Items of one value stay in the order in which they were met.
  void order(const Sort& sort) {
    const bool by_name = std::holds_alternative<Static>(sort.by);
    std::stable_sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
      const bool is_total = is_of_total(a);
      if (is_total || is_of_total(b)) return is_total && !is_of_total(b);
      const Item& first = sort.is_reversed ? b : a;
      const Item& second = sort.is_reversed ? a : b;
      if (by_name) return name_of(first.name) < name_of(second.name);
      return weight_of(first, sort) > weight_of(second, sort);
    });
  }

  Table table(std::size_t limit) const {
    Table table;
    const Table& first = lists_.front().table;
    table.title = first.title;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      table.title += fmt::format("\n{}: {}", i + 1, lists_[i].label);
      for (const std::string& note : lists_[i].table.notes)
        table.notes.push_back(fmt::format("{}: {}", lists_[i].label, note));
    }
    add_columns(table);
    for (const Item& item : items_) {
      // <Total> does not count.
      if (limit != 0 && table.rows.size() == limit) break;
      table.rows.push_back(row_of(item));
    }
    table.left_out = {items_.size() - table.rows.size(), "of them"};
    return table;
  }

 private:
  static bool is_of_total(const Item& item) { return name_of(item.name) == kTotal; }

  // A share says nothing of a difference.
  bool is_shown(const Column& column) const {
    return is_amount(column.type) || (column.type == Type::percent && how_ == Comparison::on);
  }
  bool is_difference(std::size_t list) const {
    return list != 0 && (how_ == Comparison::delta || how_ == Comparison::ratio);
  }

  void add_columns(Table& table) const {
    const std::vector<Column>& columns = lists_.front().table.columns;
    for (std::size_t list = 0; list < lists_.size(); ++list)
      for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
        if (!is_shown(columns[c])) continue;
        Column column = columns[c];
        column.id += fmt::format("_{}", list + 1);
        column.title.insert(column.title.begin(), std::to_string(list + 1));
        if (is_difference(list) && how_ == Comparison::ratio) {
          column.type = Type::number;
          column.title.back() = "ratio";
        }
        table.columns.push_back(std::move(column));
      }
    table.columns.push_back(columns.back());
    table.columns.back().title.insert(table.columns.back().title.begin(), "");
  }

  Cell cell_of(const Item& item, std::size_t list, std::size_t column) const {
    const Type type = lists_.front().table.columns[column].type;
    Cell own = item.rows[list] ? (*item.rows[list])[column] : zero_of(type);
    if (!is_difference(list)) return own;
    const Cell base = item.rows[0] ? (*item.rows[0])[column] : zero_of(type);
    const Value now = value_of(own), before = value_of(base);
    if (!now.is_known || !before.is_known) return Empty{};
    if (how_ == Comparison::delta)
      return Difference{static_cast<std::int64_t>(now.value - before.value), type == Type::time};
    if (before.value == 0) return Empty{};
    return Ratio{static_cast<double>(now.value) / static_cast<double>(before.value)};
  }

  Row row_of(const Item& item) const {
    Row row;
    const std::vector<Column>& columns = lists_.front().table.columns;
    for (std::size_t list = 0; list < lists_.size(); ++list)
      for (std::size_t c = 0; c + 1 < columns.size(); ++c)
        if (is_shown(columns[c])) row.push_back(cell_of(item, list, c));
    row.push_back(item.name);
    return row;
  }

  // The largest value of the column that is sorted by, or difference.
  std::uint64_t weight_of(const Item& item, const Sort& sort) const {
    const std::vector<Column>& columns = lists_.front().table.columns;
    const auto* by = std::get_if<MetricColumn>(&sort.by);
    auto at = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
      return by && column.id == column_id({by->flavour, by->metric, false});
    });
    if (at == columns.end())
      at = std::find_if(columns.begin(), columns.end(),
                        [](const Column& column) { return is_amount(column.type); });
    if (at == columns.end()) return 0;
    const auto column = static_cast<std::size_t>(at - columns.begin());
    std::uint64_t largest = 0;
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      const Cell cell = cell_of(item, list, column);
      if (const auto* difference = std::get_if<Difference>(&cell))
        largest = std::max(largest, static_cast<std::uint64_t>(std::abs(difference->value)));
      else if (how_ != Comparison::delta)
        largest = std::max(largest, value_of(cell).value);
    }
    return largest;
  }

  const std::vector<Compared>& lists_;
  Comparison how_;
  std::vector<Item> items_;
};

}  // namespace

std::optional<Comparison> comparison_named(std::string_view name) {
  const auto* const at = std::find(kComparisons.begin(), kComparisons.end(), name);
  if (at == kComparisons.end()) return std::nullopt;
  return static_cast<Comparison>(at - kComparisons.begin());
}

std::string_view name_of(Comparison comparison) {
  return kComparisons[static_cast<std::size_t>(comparison)];
}

Result<Table> compare(const std::vector<Compared>& lists, Comparison how, const Sort& sort,
                      std::size_t limit, const Interrupt& interrupt) {
  Comparer comparer(lists, how);
  if (auto read = comparer.read(interrupt); !read) return tl::unexpected(read.error());
  comparer.order(sort);
  return comparer.table(limit);
}

}  // namespace gnomon::reader
