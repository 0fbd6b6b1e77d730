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

using OrderedJson = nlohmann::ordered_json;

struct CellJson {
  OrderedJson operator()(const std::string& text) const { return text; }
  OrderedJson operator()(std::uint64_t count) const { return count; }
  OrderedJson operator()(Nanoseconds t) const { return seconds(t); }
  OrderedJson operator()(ShortTime t) const { return seconds(t.value); }
  OrderedJson operator()(const Label& label) const { return label.name; }
  OrderedJson operator()(const Phrase& phrase) const { return phrase.text(); }
  OrderedJson operator()(const Code& code) const { return code.text; }
  OrderedJson operator()(Percent p) const { return std::round(p.value * 100) / 100; }
  OrderedJson operator()(Address a) const { return fmt::format("{:#x}", a.value); }
  OrderedJson operator()(Difference d) const {
    return d.is_time ? OrderedJson(static_cast<double>(d.value) / 1e9) : OrderedJson(d.value);
  }
  OrderedJson operator()(Ratio r) const { return std::round(r.value * 1e4) / 1e4; }
  OrderedJson operator()(Empty) const { return nullptr; }
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
std::string dumped(const OrderedJson& json) {
  std::string text = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
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

OrderedJson column_json(const Column& column) {
  std::string title;
  for (const std::string& line : column.title)
    if (!line.empty()) title += (title.empty() ? "" : " ") + line;
  const auto [type, unit] = names_of(column.type);
  return {{"id", column.id},
          {"title", title},
          {"type", type},
          {"unit", unit ? OrderedJson(unit) : OrderedJson()}};
}

template <typename Items, typename Json_of>
std::string lines_of(const Items& items, Json_of json_of) {
  std::string text;
  for (const auto& item : items)
    text += (text.empty() ? "\n    " : ",\n    ") + dumped(json_of(item));
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

Result<void> print_json(const Table& table, const Interrupt& interrupt, const Put& put) {
  const auto text = [](const std::string& note) { return OrderedJson(note); };
  std::string head = "{\n  \"title\": " + dumped(table.title);
  head += ",\n  \"notes\": " + lines_of(table.notes, text);
  head += ",\n  \"columns\": " + lines_of(table.columns, column_json);
  if (auto done = put(head + ",\n  \"rows\": ["); !done) return done;
  std::uint64_t number = 0;
  auto done = table.each_row([&](const Row& row) -> Result<void> {
    if (interrupt.asked(number)) return interrupted();
    OrderedJson object = OrderedJson::object();
    for (std::size_t c = 0; c < row.size(); ++c)
      object[table.columns[c].id] = std::visit(CellJson{}, row[c]);
    return put((number++ == 0 ? "\n    " : ",\n    ") + dumped(object));
  });
  if (!done) return done;
  return put(fmt::format("{}],\n  \"left_out\": {}\n}}\n", number == 0 ? "" : "\n  ",
                         table.left_out.count));
}

}  // namespace gnomon::reader
