// All that is known of functions, lines or instructions, a block each. Any thread.
#include <fmt/format.h>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/chosen_function.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/line_notes.h"

namespace gnomon::reader {
namespace {

// Exclusive and inclusive values of every metric that there is data for, each with its share.
MetricList all_metrics(const AllSums& sums) {
  MetricList list;
  for (std::uint32_t m = 0; m < metric_table().size(); ++m)
    for (const Flavour flavour : {Flavour::exclusive, Flavour::inclusive})
      if (is_available(MetricId{m}, sums))
        for (const bool is_percent : {false, true})
          list.columns.push_back(MetricColumn{flavour, MetricId{m}, is_percent});
  return list;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

class Summary {
 public:
  Summary(Analysis& analysis, const CodeItems& items, const View& view)
      : analysis_(analysis),
        items_(items),
        interrupt_(view.interrupt),
        list_(all_metrics(analysis.sums())) {
    table.is_of_blocks = true;
    table.columns.push_back({"name", {"Name"}, true});
    for (Column column : columns_of(list_)) {
      if (column.id == "name") continue;
      column.title = {"%"};
      table.columns.push_back(std::move(column));
    }
    std::size_t c = 1;
    for (const auto& each : list_.columns) {
      const auto& column = std::get<MetricColumn>(each);
      if (!column.is_percent) table.columns[c].title = {Sort{column}.title()};
      ++c;
    }
    for (const auto& [id, title] :
         {std::pair("source_file", "Source File"), std::pair("unit", "Compilation Unit"),
          std::pair("load_object", "Load Object"), std::pair("mangled_name", "Mangled Name"),
          std::pair("aliases", "Aliases")})
      table.columns.push_back({id, {title}, true});
    table.columns.insert(table.columns.end() - 5, {"address", {"PC Address"}, true, Type::address});
    table.columns.insert(table.columns.end() - 6, {"size", {"Size"}, true, Type::bytes});
  }

  void add(std::uint32_t item) {
    Row row;
    row.emplace_back(items_.name(item));
    add_item_cells(row, list_, items_, item);
    const Function& function = items_.function(item);
    if (function.object.empty()) {
      row.resize(table.columns.size(), Empty{});
      table.rows.push_back(std::move(row));
      return;
    }
    const auto address = items_.address(item);
    const FunctionId id = items_.function_id(item);
    std::string source = items_.source_file(item);
    if (const SourcePlace begin = analysis_.code().begin_of(id, interrupt_);
        source.empty() && begin.is_known())
      source = analysis_.code().files().path(begin.file);
    row.push_back(items_.bytes(item) == 0 ? Cell(Empty{}) : Cell(items_.bytes(item)));
    row.push_back(address ? Cell(Address{*address}) : Cell(Empty{}));
    row.emplace_back(std::move(source));
    row.emplace_back(analysis_.code().unit_of(id, interrupt_));
    row.emplace_back(function.object);
    row.emplace_back(function.symbol);
    row.push_back(function.aliases.empty() ? Cell(Empty{}) : Cell(joined(function.aliases)));
    table.rows.push_back(std::move(row));
  }

  Result<void> add_all(const Shown& shown, std::size_t limit) {
    add(items_.total());
    const std::vector<std::uint32_t> order = in_order(shown, items_);
    for (const std::uint32_t item : order) {
      if (limit != 0 && table.rows.size() == limit) break;
      if (interrupt_.asked(table.rows.size())) return interrupted();
      add(item);
    }
    table.left_out = {order.size() + 1 - table.rows.size(), std::string(items_.plural())};
    return {};
  }

  Table table;

 private:
  Analysis& analysis_;
  const CodeItems& items_;
  const Interrupt& interrupt_;
  MetricList list_;
};

Result<Table> places_summary(Analysis& analysis, const View& view, Grain grain,
                             std::string_view title) {
  const auto found = ask_places(analysis, view, grain);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  Summary summary(analysis, items, view);
  summary.table.notes = line_notes(analysis, items);
  summary.table.title = std::string(title) + asked.shown.sort.title();
  if (auto done = summary.add_all(asked.shown, view.limit); !done)
    return tl::unexpected(done.error());
  return with_losses(std::move(summary.table), analysis, asked);
}

}  // namespace

Result<Table> fsummary_report(Analysis& analysis, const View& view) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const FunctionItems items(*asked->profile);
  Summary summary(analysis, items, view);
  summary.table.title = "Functions sorted by metric: " + asked->shown.sort.title();
  if (auto done = summary.add_all(asked->shown, view.limit); !done)
    return tl::unexpected(done.error());
  return with_losses(std::move(summary.table), analysis, *asked);
}

Result<Table> fsingle_report(Analysis& analysis, const View& view, const FunctionChoice& choice) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const auto function = chosen(choice, *asked);
  if (!function) return tl::unexpected(function.error());
  const FunctionItems items(*asked->profile);
  Summary summary(analysis, items, view);
  summary.add(index(*function));
  return with_losses(std::move(summary.table), analysis, *asked);
}

Result<Table> lsummary_report(Analysis& analysis, const View& view) {
  return places_summary(analysis, view, Grain::line, "Lines sorted by metric: ");
}

Result<Table> psummary_report(Analysis& analysis, const View& view) {
  return places_summary(analysis, view, Grain::instruction, "PCs sorted by metric: ");
}

}  // namespace gnomon::reader
