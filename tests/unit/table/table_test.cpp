// Tables as text, JSON and CSV.
#include "reader/table/table.h"
#include "reader/base/one_line.h"
#include "reader/table/shorten.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace gnomon;
using namespace gnomon::reader;

namespace {

// The whole text that `print` gives.
template <typename Print>
Result<std::string> printed(Print print) {
  std::string text;
  auto done = print([&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return text;
}
Result<std::string> to_json(const Table& table) {
  return printed([&](const Put& put) { return print_json(table, {}, put); });
}
Result<std::string> to_csv(const Table& table) {
  return printed([&](const Put& put) { return print_csv(table, {}, put); });
}

Table sample() {
  Table table;
  table.title = "Functions";
  table.notes = {"3 samples dropped."};
  table.columns = {{"time", {"Excl.", "sec."}, true, Type::time},
                   {"share", {"", "%"}, true, Type::percent},
                   {"name", {"Name"}}};
  table.rows = {{Nanoseconds{12'345'678'900}, Percent{99.5}, std::string("<Total>")},
                {Nanoseconds{0}, Percent{0}, std::string("é \"x\"")}};
  return table;
}

TEST(Table, Text) {
  EXPECT_EQ(*to_text(sample()),
            "Functions\n"
            "Note: 3 samples dropped.\n"
            "\n"
            " Excl.         Name\n"
            "  sec.      %\n"
            "12.346  99.50  <Total>\n"
            " 0.      0.    é \"x\"\n");
}

TEST(Table, TextTellsGroupsByLayout) {
  Table table;
  table.columns = {
      {"group", {}, false}, {"count", {"Count"}, true, Type::count}, {"name", {"Name"}}};
  table.rows = {{std::string("a"), std::uint64_t{1}, Label{"*", "x"}},
                {std::string("b"), std::uint64_t{20}, Label{"  +-", "y"}}};
  table.groups = {1};
  table.left_out = {3, "things"};
  EXPECT_EQ(*to_text(table),
            "Count  Name\n"
            "    1  *x\n"
            "\n"
            "   20    +-y\n"
            "\n"
            "3 more things; --limit 0 shows all.\n");
  const auto json = nlohmann::json::parse(*to_json(table));
  EXPECT_EQ(json["rows"][1], (nlohmann::json{{"group", "b"}, {"count", 20}, {"name", "y"}}));
  EXPECT_EQ(json["left_out"], 3);
}

TEST(Table, Json) {
  const auto json = nlohmann::json::parse(*to_json(sample()));
  EXPECT_EQ(json["notes"][0], "3 samples dropped.");
  EXPECT_NEAR(json["rows"][0]["time"].get<double>(), 12.3456789, 1e-9);
  EXPECT_EQ(json["rows"][1]["name"], "é \"x\"");
}

TEST(Table, JsonSaysTypesAndUnits) {
  Table table = sample();
  table.columns.push_back({"at", {"PC Addr."}, true, Type::address});
  table.columns.push_back({"size", {"Size", "bytes"}, true, Type::bytes});
  table.rows[0].insert(table.rows[0].end(), {Address{0x1234}, std::uint64_t{5}});
  table.rows[1].insert(table.rows[1].end(), {Empty{}, Empty{}});
  const auto json = nlohmann::json::parse(*to_json(table));
  const auto& columns = json["columns"];
  EXPECT_EQ(columns[0],
            (nlohmann::json{
                {"id", "time"}, {"title", "Excl. sec."}, {"type", "number"}, {"unit", "seconds"}}));
  EXPECT_EQ(columns[1]["unit"], "percent");
  EXPECT_EQ(columns[2]["unit"], nullptr);
  EXPECT_EQ(columns[3]["unit"], "address");
  EXPECT_EQ(columns[4]["unit"], "bytes");
  EXPECT_EQ(json["rows"][0]["at"], "0x1234");
  EXPECT_EQ(json["rows"][1]["at"], nullptr);
  EXPECT_EQ(json["rows"][1]["size"], nullptr);
}

TEST(Table, RowsCanBeGivenOneByOne) {
  Table table = sample();
  const auto rows = std::move(table.rows);
  table.rows.clear();
  table.list = [&](const Table::Take& take) -> Result<void> {
    for (const Row& row : rows)
      if (auto done = take(row); !done) return done;
    return {};
  };
  EXPECT_EQ(*to_text(table), *to_text(sample()));
  EXPECT_EQ(*to_json(table), *to_json(sample()));
  EXPECT_EQ(*to_csv(table), *to_csv(sample()));
  table.list = [](const Table::Take&) -> Result<void> { return fault("no more"); };
  EXPECT_FALSE(to_text(table));
  EXPECT_FALSE(to_json(table));
  EXPECT_FALSE(to_csv(table));
}

TEST(Table, JsonOfNamesThatAreNotUtf8) {
  Table table = sample();
  table.rows[0][2] = std::string("\xff\xfe");
  EXPECT_TRUE(nlohmann::json::accept(*to_json(table)));
}

// What a terminal would obey, or show in another order: escape, DEL, C1 (U+009B), bidirectional
// (U+202E), and bytes that are no UTF-8.
const std::string kHostile =
    // NOLINTNEXTLINE(misc-misleading-bidirectional): meant here.
    "a\x1b[31m\n\x7f\xc2\x9b\xe2\x80\xae\xc0\xaf\xed\xa0\x80\xf0\x9f\x98\x80";
const std::string kHarmless =
    "a\\x1b[31m\\n\\x7f\\u009b\\u202e\\xc0\\xaf\\xed\\xa0\\x80\xf0\x9f\x98\x80";

TEST(Table, ATerminalDoesNotObeyNames) {
  EXPECT_EQ(one_line(kHostile), kHarmless);
  EXPECT_EQ(one_line(kHarmless), kHarmless);
  EXPECT_EQ(sentence({kHostile, ""}), kHarmless + ".");
  Table table = sample();
  table.title = "b\x1b";
  table.notes = {kHostile};
  table.rows[0][2] = kHostile;
  for (const std::string& text : {*to_text(table), *to_csv(table)}) {
    EXPECT_NE(text.find(kHarmless), std::string::npos) << text;
    EXPECT_EQ(text.find_first_of("\x1b\x7f\xc0\xed"), std::string::npos) << text;
  }
  const std::string json = *to_json(table);
  EXPECT_NE(json.find("a\\u001b[31m\\n\\u007f\\u009b\\u202e"), std::string::npos) << json;
  EXPECT_TRUE(nlohmann::json::accept(json));
}

TEST(Table, Csv) {
  Table table = sample();
  table.columns.push_back({"depth", {}, false});
  for (auto& row : table.rows) row.push_back(Label{"+-", "a,b"});
  EXPECT_EQ(*to_csv(table),
            "time,share,name,depth\r\n"
            "12.345678900,99.50,<Total>,\"a,b\"\r\n"
            "0.000000000,0.00,\"é \"\"x\"\"\",\"a,b\"\r\n");
}

TEST(Table, TextFitsItsWidth) {
  Table table;
  table.columns = {{"count", {"Count"}, true, Type::count}, {"name", {"Name"}}};
  const std::string longer(60, 'x');
  table.rows = {{std::uint64_t{1}, Label{"  +-", longer}}, {std::uint64_t{2}, Label{"", "short"}}};
  EXPECT_EQ(*to_text(table, {40, false}),
            "Count  Name\n"
            "    1    +-" +
                std::string(13, 'x') + "..." + std::string(13, 'x') +
                "\n"
                "    2  short\n");
  // A name keeps twenty columns behind whatever mark.
  table.rows[0][1] = Label{std::string(50, ' '), longer};
  EXPECT_NE(to_text(table, {40, false})->find("\n    1  " + std::string(50, ' ') + "xxxxxxxxx..."),
            std::string::npos);
  EXPECT_NE(to_text(table)->find(longer), std::string::npos);
}

TEST(Table, ProseKeepsAllItsWords) {
  Table table;
  table.columns = {{"item", {}}, {"value", {}, true, Type::text, true}};
  table.rows = {{std::string("Clock"), std::string("kernel (task-clock event), every 10 ms")},
                {std::string("Threads"), std::string("4")}};
  EXPECT_EQ(*to_text(table, {.width = 30}),
            "Clock    kernel (task-clock\n"
            "         event), every 10 ms\n"
            "Threads  4\n");
  EXPECT_EQ(*to_text(table), "Clock    kernel (task-clock event), every 10 ms\nThreads  4\n");
}

TEST(Table, ColorsHotRowsAndNotes) {
  Table table = sample();
  table.rows[0][2] = Label{"*", "f", true};
  const std::string text = *to_text(table, {0, true});
  EXPECT_NE(text.find("\x1b[1;33mNote:\x1b[0m 3 samples"), std::string::npos);
  EXPECT_NE(text.find("12.346  \x1b[31m99.50\x1b[0m  \x1b[1m*f\x1b[0m\n"), std::string::npos);
  EXPECT_NE(text.find(" 0.      0.    é"), std::string::npos);
}

TEST(Shorten, WhatSaysLeastGoesFirst) {
  const std::string name =
      "std::map<std::pair<int, long>, char>::find(std::pair<int, long> const&)";
  EXPECT_EQ(shortened(name, name.size()), name);
  EXPECT_EQ(shortened(name, name.size() - 1), "std::map<std::pair<int, long>, char>::find(...)");
  EXPECT_EQ(shortened(name, 30), "std::map<...>::find(...)");
  EXPECT_EQ(shortened(name, 15), "...find(...)");
  EXPECT_EQ(shortened(name, 8), "fin....)");
  EXPECT_EQ(shortened("ns::operator<<(std::ostream&, ns::A<int> const&)", 20),
            "ns::operator<<(...)");
  EXPECT_EQ(shortened("A<int>::operator()(std::string) const", 30),
            "A<int>::operator()(...) const");
  EXPECT_EQ(shortened("f<&A::operator-> >(std::string)", 20), "f<...>(...)");
  EXPECT_EQ(shortened("decltype (a->b) g<int>(std::string)", 26), "decltype (...) g<int>(...)");
  const std::string invoke =
      "v8::internal::MaybeHandle<v8::internal::Object> v8::internal::(anonymous namespace)::Invoke("
      "v8::internal::Isolate*, int)";
  EXPECT_EQ(shortened(invoke, 50), "...v8::internal::(...)::Invoke(...)");
  EXPECT_EQ(shortened(invoke, 30), "...(...)::Invoke(...)");
  EXPECT_EQ(shortened("ns::A::operator()(int) const", 24), "...operator()(int) const");
  EXPECT_EQ(shortened("a > b and other words", 12), "a > b...ords");
  EXPECT_EQ(shortened("ééééééééé", 7), "éé...éé");
}

TEST(Table, TextKeepsToItsLines) {
  Table table;
  table.columns = {{"item", {}}, {"value", {}}};
  table.rows = {{std::string("Program"), std::string("a -c 'b\n\tc'")},
                {std::string("Name"), Label{"", "\x1b[31mé"}}};
  EXPECT_EQ(*to_text(table, {}), "Program  a -c 'b\\n\\tc'\nName     \\x1b[31mé\n");
  TextStyle narrow;
  narrow.width = 80;
  EXPECT_EQ(*to_text(table, narrow), *to_text(table, {}));
}

TEST(Table, IsGivenUpWhenInterrupted) {
  const Interrupt now([] { return true; });
  const auto text = [&](const Put& put) { return print_text(sample(), {}, now, put); };
  const auto json = [&](const Put& put) { return print_json(sample(), now, put); };
  const auto csv = [&](const Put& put) { return print_csv(sample(), now, put); };
  EXPECT_FALSE(printed(text));
  EXPECT_FALSE(printed(json));
  EXPECT_FALSE(printed(csv));
}

TEST(Table, EndsWhereItsTextIsRefused) {
  std::size_t pieces = 0;
  const Put put = [&](std::string_view) -> Result<void> {
    if (++pieces == 2) return fault("enough");
    return {};
  };
  EXPECT_FALSE(print_text(sample(), {}, {}, put));
  EXPECT_EQ(std::exchange(pieces, 0), 2u);
  EXPECT_FALSE(print_json(sample(), {}, put));
  EXPECT_EQ(std::exchange(pieces, 0), 2u);
  EXPECT_FALSE(print_csv(sample(), {}, put));
  EXPECT_EQ(pieces, 2u);
}

}  // namespace
