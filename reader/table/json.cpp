// A table as JSON: an object a row and line, so that a long one can be read line by line. Any
// thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reader/base/one_line.h"
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
  Json operator()(Address a) const { return fmt::format("{:#x}", a.value); }
  Json operator()(Empty) const { return nullptr; }
};

struct TypeNames {
  const char *type, *unit;  // unit null: none
};

TypeNames names_of(Type type) {
  switch (type) {
    case Type::text:
      return {"string", nullptr};
    case Type::count:
      return {"integer", "count"};
    case Type::bytes:
      return {"integer", "bytes"};
    case Type::time:
      return {"number", "seconds"};
    case Type::percent:
      return {"number", "percent"};
    case Type::address:
      return {"string", "address"};
    case Type::number:
      return {"number", nullptr};
  }
  return {"string", nullptr};
}

// With the control characters that JSON lets pass (DEL, C1, bidirectional) escaped: a terminal that
// shows the text does not obey them.
std::string dumped(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [value, bytes] = character_at(text, at);
    out += is_control(value) ? fmt::format("\\u{:04x}", value) : text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

Json column_json(const Column& column) {
  std::string title;
  for (const std::string& line : column.title)
    if (!line.empty()) title += (title.empty() ? "" : " ") + line;
  const auto [type, unit] = names_of(column.type);
  return {
      {"id", column.id}, {"title", title}, {"type", type}, {"unit", unit ? Json(unit) : Json()}};
}

template <typename Items, typename Json_of>
std::string lines_of(const Items& items, Json_of json_of) {
  std::string text;
  for (const auto& item : items)
    text += (text.empty() ? "\n    " : ",\n    ") + dumped(json_of(item));
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

Result<std::string> to_json(const Table& table, const Interrupt& interrupt) {
  const auto text = [](const std::string& note) { return Json(note); };
  std::string out = "{\n  \"title\": " + dumped(table.title);
  out += ",\n  \"notes\": " + lines_of(table.notes, text);
  out += ",\n  \"columns\": " + lines_of(table.columns, column_json);
  out += ",\n  \"rows\": [";
  std::uint64_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number)) return interrupted();
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c)
      object[table.columns[c].id] = std::visit(CellJson{}, row[c]);
    out += (number++ == 0 ? "\n    " : ",\n    ") + dumped(object);
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  out += number == 0 ? "]" : "\n  ]";
  return out + fmt::format(",\n  \"left_out\": {}\n}}\n", table.left_out.count);
}

}  // namespace gnomon::reader
