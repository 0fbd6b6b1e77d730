// Tables as text and as JSON.
#include "reader/table/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace gnomon;
using namespace gnomon::reader;

namespace {

Table sample() {
  Table table;
  table.title = "Functions";
  table.notes = {"3 samples dropped."};
  table.columns = {{"time", {"Excl.", "sec."}}, {"share", {"", "%"}}, {"name", {"Name"}}};
  table.rows = {{Nanoseconds{12'345'678'900}, Percent{99.5}, std::string("<Total>")},
                {Nanoseconds{0}, Percent{0}, std::string("é \"x\"")}};
  return table;
}

TEST(Table, Text) {
  EXPECT_EQ(to_text(sample()),
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
  table.columns = {{"group", {}, false}, {"count", {"Count"}}, {"name", {"Name"}}};
  table.rows = {{std::string("a"), std::uint64_t{1}, Label{"*", "x"}},
                {std::string("b"), std::uint64_t{20}, Label{"  +-", "y"}}};
  table.groups = {1};
  table.left_out = {3, "things"};
  EXPECT_EQ(to_text(table),
            "Count  Name\n"
            "    1  *x\n"
            "\n"
            "   20    +-y\n"
            "\n"
            "3 more things; --limit 0 shows all.\n");
  const auto json = nlohmann::json::parse(to_json(table));
  EXPECT_EQ(json["rows"][1], (nlohmann::json{{"group", "b"}, {"count", 20}, {"name", "y"}}));
  EXPECT_EQ(json["left_out"], 3);
}

TEST(Table, Json) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(json["notes"][0], "3 samples dropped.");
  EXPECT_NEAR(json["rows"][0]["time"].get<double>(), 12.3456789, 1e-9);
  EXPECT_EQ(json["rows"][1]["name"], "é \"x\"");
}

TEST(Table, JsonOfNamesThatAreNotUtf8) {
  Table table = sample();
  table.rows[0][2] = std::string("\xff\xfe");
  EXPECT_TRUE(nlohmann::json::accept(to_json(table)));
}

}  // namespace
