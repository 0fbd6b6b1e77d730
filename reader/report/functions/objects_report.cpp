// Load objects: what their code used, and how much of them is shown. Any thread.
#include <set>

#include "reader/report/asked/asked.h"
#include "reader/report/asked/item_list.h"
#include "reader/report/asked/report.h"

namespace gnomon::reader {
namespace {

std::string symbols_text(SymbolState state) {
  switch (state) {
    case SymbolState::none:
      return "none";
    case SymbolState::exported:
      return "exported";
    case SymbolState::all:
      return "all";
  }
  return "";
}

}  // namespace

Result<Table> objects_report(Analysis& analysis, const View& view) {
  const auto found = ask_places(analysis, view, Grain::object);
  if (!found) return tl::unexpected(found.error());
  const auto& [asked, items] = *found;
  ExtraColumns extra;
  extra.columns = {{"selected", {"Sel"}}, {"symbols", {"Symbols"}}};
  extra.add = [&, &of = items](Row& row, std::uint32_t item) {
    const Function& function = of.function(item);
    const bool is_object = !function.object.empty();
    row.emplace_back(is_object
                         ? std::string(word(analysis.address_space().expansion_of(function.file)))
                         : std::string());
    row.emplace_back(is_object ? symbols_text(analysis.symbol_state(function.file))
                               : std::string());
  };
  auto table = item_list(items, of_items(asked.shown.metrics), asked.shown, view, extra);
  if (!table) return table;
  table->title = "Load objects sorted by metric: " + asked.shown.sort.title();
  return with_losses(std::move(table), analysis, asked);
}

Table object_list(Analysis& analysis, const Expansions& expansions) {
  Table table;
  table.columns = {{"selected", {"Sel"}}, {"load_object", {"Load Object"}}};
  std::set<std::string> listed;
  for (const auto& part : analysis.parts())
    for (const LoadObject& object : part->experiment().objects) {
      if (!listed.insert(object.path).second) continue;
      Row row;
      row.emplace_back(std::string(word(expansions.of(object.path))));
      row.emplace_back(object.path);
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace gnomon::reader
