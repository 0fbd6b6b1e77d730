// Threads, CPUs, seconds and the like with exclusive metrics. Any thread.
#include <fmt/format.h>

#include "reader/analysis/index_values.h"
#include "reader/report/asked/asked.h"
#include "reader/report/asked/index_object.h"
#include "reader/report/asked/item_list.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

class IndexItems : public Items {
 public:
  IndexItems(const IndexObject& object, const IndexValues& values, const Analysis& analysis)
      : values_(values), names_(object, analysis) {}
  std::string_view plural() const override { return "of them"; }
  // <Total> is the last.
  std::uint32_t size() const override { return total() + 1; }
  std::uint32_t total() const override { return static_cast<std::uint32_t>(values_.keys.size()); }
  Phrase name(std::uint32_t item) const override {
    if (item == total()) return {"", std::string(kTotal), ""};
    return {"", names_.of(values_.keys[item]), ""};
  }
  // By number: what is not known comes first.
  std::string order(std::uint32_t item) const override {
    if (item == total()) return "";
    return fmt::format("{:020}", static_cast<std::uint64_t>(values_.keys[item]) ^ 1ull << 63);
  }
  std::uint64_t value(Flavour, MetricId metric, std::uint32_t item) const override {
    if (item == total()) return values_.sums.total(metric);
    return values_.sums.value(metric, item);
  }

 private:
  const IndexValues& values_;
  IndexNames names_;
};

// Returns true for objects that follow each other in time, unless the user has chosen an order.
bool is_in_order_of_time(const IndexObject& object, const View& view) {
  return (object.name == "Seconds" || object.name == "Samples") &&
         view.sort.text() == default_sort().text();
}

}  // namespace

Result<Table> index_report(Analysis& analysis, const View& view, const IndexObject& object) {
  auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  shown->metrics = exclusive_only(shown->metrics);
  if (auto* by = std::get_if<MetricColumn>(&shown->sort.by)) by->flavour = Flavour::exclusive;
  const bool is_in_time = is_in_order_of_time(object, view);
  if (is_in_time) shown->sort = *parse_sort("name");
  const auto values = sum_by(analysis, object.expression, view.interrupt);
  if (!values) return tl::unexpected(values.error());
  auto table = item_list(IndexItems(object, *values, analysis), shown->metrics, *shown, view);
  if (!table) return table;
  table->title = is_in_time
                     ? fmt::format("{} in the order of time", object.name)
                     : fmt::format("{} sorted by metric: {}", object.name, shown->sort.title());
  table->notes = loss_notes(analysis, nullptr);
  for (const auto& part : analysis.parts())
    if (std::string note = lost_samples_note(*part); !note.empty())
      table->notes.push_back(std::move(note));
  table->notes.insert(table->notes.end(), shown->notes.begin(), shown->notes.end());
  return table;
}

Table index_object_list(const std::vector<IndexObject>& defined) {
  Table table;
  table.title = "Index objects";
  table.columns = {{"name", {"Name"}}, {"expression", {"Expression"}}};
  for (const auto& all : {predefined_index_objects(), std::span<const IndexObject>(defined)})
    for (const IndexObject& each : all) {
      Row row;
      row.emplace_back(each.name);
      row.emplace_back(each.expression);
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table describe_report(Analysis& analysis) {
  Table table;
  table.title = "Properties of events, for `filters` and `indxobj_define`";
  table.columns = {
      {"property", {"Property"}}, {"kinds", {"Kinds of events"}}, {"meaning", {"Meaning"}}};
  table.notes = loss_notes(analysis, nullptr, false);
  const auto& kinds = analysis.experiment().header.events;
  for (const Token& token : token_table()) {
    std::string having;
    std::size_t count = 0;
    for (const EventLayout& kind : kinds)
      if (has_property(kind, token)) {
        having += (count++ == 0 ? "" : ", ") + kind.name;
      }
    if (count == 0) continue;
    Row row;
    row.emplace_back(std::string(token.name));
    row.emplace_back(count == kinds.size() ? std::string("all") : having);
    row.emplace_back(std::string(token.meaning));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace gnomon::reader
