// JSON lines: always valid JSON, whatever bytes go in, or nothing.
#include "libcollector/core/json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

using gnomon::collector::JsonLine;

namespace {

TEST(JsonLine, AnyBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto n = random() % 12; n > 0; --n)
      text += static_cast<char>(1 + random() % (i % 2 ? 255 : 40));
    char buffer[512];
    JsonLine line(1, buffer, sizeof buffer);
    line.text("a", text.c_str()).number("n", random()).hex("h", 0xabc);
    line.open("list", '[').item("x").item(text.c_str()).close(']');
    const std::size_t length = line.finish();
    ASSERT_NE(length, 0u);
    const auto json = nlohmann::json::parse(std::string(buffer, length), nullptr, false);
    ASSERT_TRUE(json.is_object()) << std::string(buffer, length);
    EXPECT_EQ(json["h"], "0xabc");
  }
}

TEST(JsonLine, TooLongIsNothing) {
  char buffer[10];
  JsonLine line(1, buffer, sizeof buffer);
  line.text("key", "a long value");
  EXPECT_EQ(line.finish(), 0u);
}

}  // namespace
