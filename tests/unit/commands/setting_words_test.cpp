// Values of settings as users type them, and the text in which they travel.
#include "commands/collect/setting_words.h"

#include <gtest/gtest.h>

#include "commands/collect/machine_clock.h"
#include "reader/report/base/setting_text.h"

namespace gnomon::commands {
namespace {

using format::Setting;
using format::SettingValues;

// The value in words, a warning behind it, or what is wrong.
std::string set(Setting setting, std::string_view word, SettingValues values = {}) {
  const SettingValues before = values;
  const auto warning = set_value(setting, word, values);
  if (!warning) {
    for (const format::SettingRow& row : format::kSettings)
      EXPECT_EQ(values[row.setting], before[row.setting]) << word;
    return "! " + sentence(warning.error());
  }
  return reader::setting_text(setting, values) + (warning->empty() ? "" : " (" + *warning + ")");
}

struct WordAndText {
  std::string_view word, text;
};

void expect(Setting setting, std::initializer_list<WordAndText> rows) {
  for (const WordAndText& row : rows) EXPECT_EQ(set(setting, row.word), row.text) << row.word;
}

TEST(SettingWords, Depths) {
  expect(Setting::depth, {{"16", "16"},
                          {"16384", "16384"},
                          {"15", "! 15 is out of range for depth; 16 to 16384 are possible."},
                          {"16385", "! 16385 is out of range for depth; 16 to 16384 are possible."},
                          {"", "! an empty word is not a number of frames; 1024 is."},
                          {"1k", "! 1k is not a number of frames; 1024 is."}});
}

TEST(SettingWords, Intervals) {
  expect(Setting::profile,
         {{"on", "10.007 ms"},
          {"hi", "0.997 ms"},
          {"high", "0.997 ms"},
          {"lo", "100.003 ms"},
          {"low", "100.003 ms"},
          {"off", "off"},
          {"20", "20 ms"},
          {"20m", "20 ms"},
          {"20ms", "20 ms"},
          {"12.5", "12.5 ms"},
          {"12500u", "12.5 ms"},
          {"12500us", "12.5 ms"},
          {"1000", "1000 ms"},
          {"8.0005",
           "8 ms (the interval is rounded down to whole "
           "microseconds: 8 ms)"},
          {"0", "! 0 is out of range for profile; 0.1 ms to 1000 ms are possible."},
          {"99u",
           "! 99u is out of range for profile; 0.1 ms to 1000 ms are "
           "possible."},
          {"2s", "! 2s is not an interval; on, hi, lo, 5m and 500u are."},
          {"", "! an empty word is not an interval; on, hi, lo, 5m and 500u are."}});
}

TEST(SettingWords, TimesAndSizes) {
  expect(Setting::sample_period, {{"on", "1 s"},
                                  {"off", "off"},
                                  {"0.5", "0.5 s"},
                                  {"2m", "120 s"},
                                  {"x", "! x is not a time; 10, 0.5s, 500ms and 2m are."},
                                  {"0",
                                   "! 0 is out of range for sample period; 0.1 s to 3600 s are "
                                   "possible."}});
  expect(Setting::size_limit,
         {{"5", "5 MB"},
          {"2.5MB", "2.5 MB"},
          {"none", "unlimited"},
          {"unlimited", "unlimited"},
          {"0", "! 0 is out of range for limit; 1 MB to 1000000 MB are possible."},
          {"5k", "! 5k is not a size; a number of megabytes and unlimited are."}});
  expect(Setting::duration, {{"10", "10 s"},
                             {"10s", "10 s"},
                             {"2m", "120 s"},
                             {"5-10", "5-10 s"},
                             {"5-10m", "300-600 s"},
                             {"5s-10m", "5-600 s"},
                             {"5-0", "from 5 s on"},
                             {"0-10", "10 s"},
                             {"none", "unlimited"},
                             {"10-5",
                              "! 10-5 ends before it begins; write the earlier time first; an "
                              "end of 0 is the program's."}});
}

TEST(SettingWords, Signals) {
  expect(Setting::sample_signal,
         {{"USR1", "SIGUSR1"},
          {"SIGUSR2", "SIGUSR2"},
          {"sigusr1", "SIGUSR1"},
          {"12", "SIGUSR2"},
          {"34", "signal 34"},
          {"off", "none"},
          {"KILL", "! KILL cannot be used for this; SIGUSR1 and SIGUSR2 can."},
          {"PROF", "! PROF cannot be used for this; SIGUSR1 and SIGUSR2 can."},
          {"0", "! 0 is not a signal; USR1 and SIGUSR2 are."},
          {"65", "! 65 is not a signal; USR1 and SIGUSR2 are."}});
  SettingValues values;
  ASSERT_TRUE(set_value(Setting::pause_signal, "USR1", values));
  EXPECT_EQ(values[Setting::paused], 1u);  // until the first delivery
  ASSERT_TRUE(set_value(Setting::pause_signal, "USR1,r", values));
  EXPECT_EQ(values[Setting::paused], 0u);
  EXPECT_EQ(set(Setting::sample_signal, "USR1", values),
            "! USR1 cannot pause the recording and take samples, too; use two signals.");
}

TEST(SettingWords, TheTextHoldsEveryValue) {
  SettingValues values;
  std::uint64_t next = 12345678901;
  for (const format::SettingRow& row : format::kSettings) values[row.setting] = next++;
  const SettingValues read = format::settings_in(format::settings_text(values).text);
  for (const format::SettingRow& row : format::kSettings)
    EXPECT_EQ(read[row.setting], values[row.setting]) << row.name;
  const SettingValues damaged = format::settings_in("p=;S=x;L=5;;q=3;n");
  EXPECT_EQ(damaged[Setting::profile], format::kNormalInterval);
  EXPECT_EQ(damaged[Setting::size_limit], 5u);
}

}  // namespace
}  // namespace gnomon::commands
