// Functions, lines or instructions with the listed metrics. Any thread.
#include <fmt/format.h>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/item_list.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/line_notes.h"

namespace gnomon::reader {
namespace {

// For those who read JSON or CSV: what the name says of a place.
ExtraColumns parts_of(const PlaceItems& items) {
  ExtraColumns extra;
  extra.columns = {{"function", {}, false},
                   {"load_object", {}, false},
                   {"source_file", {}, false},
                   {"line", {}, false, Type::count}};
  extra.add = [&items](Row& row, std::uint32_t item) {
    const std::string file = items.source_file(item);
    row.emplace_back(items.function_name(item));
    row.emplace_back(items.function(item).object);
    row.emplace_back(file);
    if (file.empty())
      row.emplace_back(Empty{});
    else
      row.emplace_back(std::uint64_t{items.place(item).source.line});
  };
  return extra;
}

Result<Table> places_report(Analysis& analysis, const View& view, Grain grain,
                            std::string_view title) {
  const auto found = ask_places(analysis, view, grain);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  auto table = item_list(items, of_items(asked.shown.metrics), asked.shown, view, parts_of(items));
  if (!table) return table;
  table->title = std::string(title) + asked.shown.sort.title();
  table->notes = line_notes(analysis, items);
  return with_losses(std::move(table), analysis, asked);
}

}  // namespace

Result<Table> functions_report(Analysis& analysis, const View& view) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  auto table =
      item_list(FunctionItems(*asked->profile), of_items(asked->shown.metrics), asked->shown, view);
  if (!table) return table;
  table->title = "Functions sorted by metric: " + asked->shown.sort.title();
  return with_losses(std::move(table), analysis, *asked);
}

Result<Function> function_of_row(Analysis& analysis, const View& view, std::size_t number) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const std::vector<std::uint32_t> order = in_order(asked->shown, FunctionItems(*asked->profile));
  if (number <= order.size()) return asked->profile->function(FunctionId{order[number - 1]});
  return fault(fmt::format("there is no row {}", number),
               fmt::format("`functions` has {} besides <Total>", order.size()));
}

Result<Table> lines_report(Analysis& analysis, const View& view) {
  return places_report(analysis, view, Grain::line, "Lines sorted by metric: ");
}

Result<Table> pcs_report(Analysis& analysis, const View& view) {
  return places_report(analysis, view, Grain::instruction, "PCs sorted by metric: ");
}

}  // namespace gnomon::reader
