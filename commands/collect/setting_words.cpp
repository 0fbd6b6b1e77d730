// What users type as the value of a setting. Any thread.
#include "commands/collect/setting_words.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "commands/base/command.h"
#include "commands/collect/machine_clock.h"
#include "commands/host/words.h"
#include "libcollector/format/counters.h"
#include "reader/report/base/setting_text.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;
using format::Setting;
using format::SettingRow;
using format::SettingType;
using format::SettingValues;

std::string_view shown(std::string_view word) { return word.empty() ? "an empty word" : word; }

tl::unexpected<Fault> out_of_range(const SettingRow& row, std::string_view word) {
  return fault(
      fmt::format("{} is out of range for {}", word, row.name),
      fmt::format("{} to {} are possible", text_of(row, row.least), text_of(row, row.most)));
}

Result<std::uint64_t> in_range(const SettingRow& row, std::string_view word, double value) {
  // Rounded first: 0.1 s times 1e9 may be a little less than the least.
  value = std::floor(value + 1e-3);
  if (!(value >= static_cast<double>(row.least)) || value > static_cast<double>(row.most))
    return out_of_range(row, word);
  return static_cast<std::uint64_t>(value);
}

// The number at the beginning of a word, and what follows it.
struct Number {
  double value;
  std::string_view unit;
};
std::optional<Number> number_in(std::string_view word) {
  double value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return Number{value, {end, static_cast<std::size_t>(last - end)}};
}

struct Parsed {
  std::uint64_t value;
  std::string warning;
};

struct Named {
  std::string_view name;
  std::uint64_t interval;
};
constexpr std::array kIntervals{
    Named{"on", format::kNormalInterval}, Named{"hi", format::kHighInterval},
    Named{"high", format::kHighInterval}, Named{"lo", format::kLowInterval},
    Named{"low", format::kLowInterval},   Named{"off", 0}};

std::string coarse_clock(std::uint64_t interval) {
  const MachineClock& clock = machine_clock();
  if (clock.is_exact || interval >= clock.tick) return "";
  return fmt::format(
      "this machine's clock ticks every {:g} ms, so samples by signals come at most so often; with "
      "the kernel as their source (`profile source kernel`, -k kernel), or "
      "kernel.perf_event_paranoid at 1 or lower, they come at the interval",
      static_cast<double>(clock.tick) / 1e6);
}

Result<Parsed> interval_in(const SettingRow& row, std::string_view word) {
  for (const Named& each : kIntervals)
    if (each.name == word)
      return Parsed{each.interval, each.interval == 0 ? "" : coarse_clock(each.interval)};
  const auto number = number_in(word);
  const std::string_view unit = number ? number->unit : "";
  const bool is_micro = unit == "u" || unit == "us";
  if (!number || (!is_micro && !unit.empty() && unit != "m" && unit != "ms"))
    return fault(fmt::format("{} is not an interval", shown(word)), "on, hi, lo, 5m and 500u are");
  const auto value = in_range(row, word, number->value * (is_micro ? 1e3 : 1e6));
  if (!value) return tl::unexpected(value.error());
  const std::uint64_t rounded = *value / 1000 * 1000;
  std::string warning = coarse_clock(rounded);
  if (rounded != *value)
    warning = fmt::format("the interval is rounded down to whole microseconds: {}",
                          text_of(row, rounded));
  return Parsed{rounded, warning};
}

Result<Parsed> time_of(const SettingRow& row, std::string_view word) {
  if (word == "off") return Parsed{0, ""};
  if (word == "on") return Parsed{row.initial, ""};
  const auto time = time_in(word);
  if (!time)
    return fault(fmt::format("{} is not a time", shown(word)), "10, 0.5s, 500ms and 2m are");
  if (*time < row.least || *time > row.most) return out_of_range(row, word);
  return Parsed{*time, ""};
}

Result<Parsed> size_in(const SettingRow& row, std::string_view word) {
  if (word == "unlimited" || word == "none") return Parsed{0, ""};
  const auto number = number_in(word);
  if (!number || (!number->unit.empty() && number->unit != "MB"))
    return fault(fmt::format("{} is not a size", shown(word)),
                 "a number of megabytes and unlimited are");
  const auto value = in_range(row, word, number->value * static_cast<double>(format::kMegabyte));
  if (!value) return tl::unexpected(value.error());
  return Parsed{*value, ""};
}

Result<Parsed> count_in(const SettingRow& row, std::string_view word) {
  const auto number = whole_number(word);
  if (!number)
    return fault(fmt::format("{} is not a number of frames", shown(word)),
                 fmt::format("{} is", row.initial));
  if (*number < row.least || *number > row.most) return out_of_range(row, word);
  return Parsed{*number, ""};
}

// 0: the word is no signal.
std::uint64_t signal_number(std::string_view word) {
  if (const auto number = whole_number(word)) return *number < NSIG ? *number : 0;
  std::string name(word);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int number = 1; number < NSIG; ++number)
    if (const char* known = sigabbrev_np(number); known && name == known)
      return static_cast<std::uint64_t>(number);
  return 0;
}

Result<Parsed> signal_in(const SettingRow&, std::string_view word) {
  if (word == "off") return Parsed{0, ""};
  const std::uint64_t number = signal_number(word);
  constexpr std::uint64_t kNotPossible[] = {SIGKILL, SIGSTOP, SIGPROF};
  if (number == 0)
    return fault(fmt::format("{} is not a signal", shown(word)), "USR1 and SIGUSR2 are");
  if (std::find(std::begin(kNotPossible), std::end(kNotPossible), number) != std::end(kNotPossible))
    return fault(fmt::format("{} cannot be used for this", word), "SIGUSR1 and SIGUSR2 can");
  return Parsed{number, ""};
}

Result<Parsed> heap_in(const SettingRow& row, std::string_view text) {
  constexpr std::uint64_t kLeast = 1 << 10, kMost = 1 << 30;
  std::uint64_t value = 0;
  std::size_t place = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++place) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (place == 0 && word == "off" && end == text.size()) return Parsed{0, ""};
    if (place == 0 && word == "on") {
      value |= format::kHeapOn;
      continue;
    }
    if (place > 0 && word == "free-stacks") {
      value |= format::kFreeStacks;
      continue;
    }
    const auto size = place > 0 && format::heap_mean(value) == 0 ? bytes_in(word) : std::nullopt;
    if (!size)
      return fault(fmt::format("{} is no word of {}", shown(word), row.name),
                   "on, off, on,free-stacks and on,512k are");
    if (*size < kLeast || *size > kMost)
      return fault(fmt::format("{} is out of range for {}", shown(word), row.name),
                   "1k to 1024m are possible");
    value |= *size << format::kHeapMeanShift;
  }
  return Parsed{value, ""};
}

// on|calibrate|all|off, or microseconds.
Result<Parsed> sync_in(const SettingRow& row, std::string_view word) {
  if (word == "off") return Parsed{0, ""};
  if (word == "on" || word == "calibrate") return Parsed{format::kSyncCalibrate, ""};
  if (word == "all") return Parsed{format::kSyncAll, ""};
  const auto number = number_in(word);
  const std::string_view unit = number ? number->unit : "";
  if (!number || (!unit.empty() && unit != "u" && unit != "us"))
    return fault(fmt::format("{} is no word of {}", shown(word), row.name),
                 "on, off, calibrate, all and a number of microseconds are");
  const double value = number->value * 1e3;
  if (value < 0 || value > static_cast<double>(format::sync_threshold(row.most)))
    return fault(fmt::format("{} is out of range for {}", shown(word), row.name),
                 "0 to 1000000 microseconds are possible");
  return Parsed{format::kSyncAll + static_cast<std::uint64_t>(value), ""};
}

Result<Parsed> flag_in(const SettingRow& row, std::string_view word) {
  if (word == "on" || word == "off") return Parsed{word == "on" ? 1u : 0u, ""};
  return fault(fmt::format("{} is no word of {}", shown(word), row.name), "on and off are");
}

Result<Parsed> source_in(const SettingRow& row, std::string_view word) {
  const auto at = std::find(format::kClockSources.begin(), format::kClockSources.end(), word);
  if (at == format::kClockSources.end())
    return fault(fmt::format("{} is no word of {}", shown(word), row.name),
                 "auto, kernel, hybrid and signal are");
  return Parsed{static_cast<std::uint64_t>(at - format::kClockSources.begin()), ""};
}

Result<Parsed> parsed(const SettingRow& row, std::string_view word) {
  switch (row.type) {
    case SettingType::interval:
      return interval_in(row, word);
    case SettingType::size:
      return size_in(row, word);
    case SettingType::signal:
      return signal_in(row, word);
    case SettingType::count:
      return count_in(row, word);
    case SettingType::heap:
      return heap_in(row, word);
    case SettingType::sync:
      return sync_in(row, word);
    case SettingType::flag:
      return flag_in(row, word);
    case SettingType::source:
      return source_in(row, word);
    default:
      return time_of(row, word);
  }
}

// Of "5-10" the 5 and the 10; where one has no unit of its own, both have the other's.
Result<void> set_range(std::string_view word, SettingValues& values) {
  const std::size_t dash = word.find('-');
  const std::string last(word.substr(dash + 1));
  std::string first(word.substr(0, dash));
  if (!last.empty() && !first.empty() && std::isdigit(static_cast<unsigned char>(first.back())))
    first += last.substr(std::min(last.size(), last.find_last_of("0123456789.") + 1));
  const auto from = time_in(first), to = time_in(last);
  if (!from || !to)
    return fault(fmt::format("{} is not a time", shown(word)), "10, 2m, 5-10 and 1m-2m are");
  const SettingRow& row = format::row(Setting::duration);
  if (*from > row.most || *to > row.most) return out_of_range(row, word);
  if (*to != 0 && *to <= *from)
    return fault(fmt::format("{} ends before it begins", word),
                 "write the earlier time first; an end of 0 is the program's");
  values[Setting::delay] = *from;
  values[Setting::duration] = *to;
  return {};
}

Result<std::string> set_duration(std::string_view word, SettingValues& values) {
  if (word.find('-', 1) != std::string_view::npos) {
    if (auto set = set_range(word, values); !set) return tl::unexpected(set.error());
    return "";
  }
  const bool is_none = word == "none" || word == "unlimited";
  auto value = time_of(format::row(Setting::duration), is_none ? "off" : word);
  if (!value) return tl::unexpected(value.error());
  values[Setting::delay] = 0;
  values[Setting::duration] = value->value;
  return "";
}

tl::unexpected<Fault> signal_in_use(std::string_view word) {
  return fault(fmt::format("{} cannot pause the recording and take samples, too", word),
               "use two signals");
}

// SIGNAL: recording begins with the first delivery. SIGNAL,r: it begins at once.
Result<std::string> set_pause_signal(std::string_view word, SettingValues& values) {
  const bool runs = word.ends_with(",r");
  const std::string_view name = runs ? word.substr(0, word.size() - 2) : word;
  const auto value = signal_in(format::row(Setting::pause_signal), name);
  if (!value) return tl::unexpected(value.error());
  if (value->value != 0 && value->value == values[Setting::sample_signal])
    return signal_in_use(name);
  values[Setting::pause_signal] = value->value;
  values[Setting::paused] = value->value != 0 && !runs;
  return "";
}

// A path below the chosen directory, unless it is absolute.
Result<void> check_ending(const std::string& word, std::string_view ending) {
  const std::string file = fs::path(word).filename().string();
  if (file.ends_with(ending) && file != ending) return {};
  return fault(fmt::format("{} does not end in {}", shown(word), ending),
               fmt::format("a name such as test{} does", ending));
}

}  // namespace

std::string text_of(const SettingRow& row, std::uint64_t value) {
  SettingValues values;
  values[Setting::delay] = 0;
  values[row.setting] = value;
  return reader::setting_text(row.setting, values);
}

Result<std::string> set_value(Setting setting, std::string_view word, SettingValues& values) {
  if (setting == Setting::duration) return set_duration(word, values);
  if (setting == Setting::pause_signal) return set_pause_signal(word, values);
  auto value = parsed(format::row(setting), word);
  if (!value) return tl::unexpected(value.error());
  if (setting == Setting::sample_signal && value->value != 0 &&
      value->value == values[Setting::pause_signal])
    return signal_in_use(word);
  values[setting] = value->value;
  return std::move(value->warning);
}

void set_counters(const std::vector<std::string>& words, const std::string& text,
                  CollectSettings& settings) {
  settings.counter_words = words;
  settings.counters = text;
  if (!settings.has_chosen_clock)
    settings.values[Setting::profile] = words.empty() ? format::row(Setting::profile).initial : 0;
}

std::string counters_shown(const CollectSettings& settings) {
  std::string shown;
  for (const format::Counter& each : format::counters_in(settings.counters))
    shown += fmt::format("{}{},{}", shown.empty() ? "" : ",", each.name, each.interval);
  return shown.empty() ? "off" : shown;
}

Result<void> set_directory(const std::string& word, CollectSettings& settings) {
  std::error_code error;
  const fs::path directory = fs::canonical(word, error);
  if (error || !fs::is_directory(directory, error))
    return fault(fmt::format("there is no directory {}", word), "make it, or choose another");
  settings.directory = directory.string();
  return {};
}

Result<void> set_experiment(const std::string& word, CollectSettings& settings) {
  if (auto checked = check_ending(word, ".er"); !checked) return checked;
  settings.experiment = word;
  return {};
}

Result<void> set_group(const std::string& word, CollectSettings& settings) {
  if (auto checked = check_ending(word, ".erg"); !checked) return checked;
  settings.group = word;
  return {};
}

}  // namespace gnomon::commands
