// A table as JSON. Any thread.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reader/table/table.h"

namespace gnomon::reader {
namespace {

using Json = nlohmann::ordered_json;

struct CellJson {
  Json operator()(const std::string& text) const { return text; }
  Json operator()(std::uint64_t count) const { return count; }
  Json operator()(Nanoseconds t) const { return seconds(t); }
  Json operator()(const Label& label) const { return label.name; }
  Json operator()(Percent p) const { return std::round(p.value * 100) / 100; }
};

}  // namespace

Result<std::string> to_json(const Table& table, const Interrupt& interrupt) {
  Json json;
  json["title"] = table.title;
  json["notes"] = table.notes;
  json["columns"] = Json::array();
  for (const Column& column : table.columns) json["columns"].push_back(column.id);
  json["rows"] = Json::array();
  for (const auto& row : table.rows) {
    if (interrupt.asked(json["rows"].size())) return interrupted();
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c)
      object[table.columns[c].id] = std::visit(CellJson{}, row[c]);
    json["rows"].push_back(std::move(object));
  }
  json["left_out"] = table.left_out.count;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gnomon::reader
