// The value of a setting in words. Any thread.
#include "reader/report/base/setting_text.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

namespace gnomon::reader {
namespace {

using format::Setting;
using format::SettingType;

std::string seconds_text(std::uint64_t nanoseconds) {
  return fmt::format("{:.15g}", static_cast<double>(nanoseconds) / 1e9);
}

std::string signal_text(std::uint64_t number) {
  if (number == 0) return "none";
  const char* name = number < NSIG ? sigabbrev_np(static_cast<int>(number)) : nullptr;
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

// A delay makes a range of it; without an end it lasts until the program's.
std::string duration_text(std::uint64_t delay, std::uint64_t duration) {
  if (delay == 0 && duration == 0) return "unlimited";
  if (delay == 0) return seconds_text(duration) + " s";
  return duration == 0 ? fmt::format("from {} s on", seconds_text(delay))
                       : fmt::format("{}-{} s", seconds_text(delay), seconds_text(duration));
}

std::string heap_text(std::uint64_t value) {
  if (value == 0) return "off";
  std::string text = "on";
  if (const std::uint64_t mean = format::heap_mean(value); mean % (1 << 20) == 0 && mean != 0)
    text += fmt::format(",{}m", mean >> 20);
  else if (mean % 1024 == 0 && mean != 0)
    text += fmt::format(",{}k", mean >> 10);
  else if (mean != 0)
    text += fmt::format(",{}", mean);
  return (value & format::kFreeStacks) != 0 ? text + ",free-stacks" : text;
}

std::string sync_text(std::uint64_t value) {
  if (value == 0) return "off";
  if (value == format::kSyncCalibrate) return "calibrate";
  if (value == format::kSyncAll) return "all";
  return fmt::format("{:.15g} us", static_cast<double>(format::sync_threshold(value)) / 1e3);
}

}  // namespace

std::string setting_text(Setting setting, const format::SettingValues& values) {
  const std::uint64_t value = values[setting];
  if (setting == Setting::duration) return duration_text(values[Setting::delay], value);
  switch (row(setting).type) {
    case SettingType::interval:
      return value == 0 ? "off" : fmt::format("{:.15g} ms", static_cast<double>(value) / 1e6);
    case SettingType::time:
      return value == 0 ? "off" : seconds_text(value) + " s";
    case SettingType::size:
      return value == 0 ? "unlimited" : fmt::format("{:.15g} MB", static_cast<double>(value) / 1e6);
    case SettingType::flag:
      return value == 0 ? "off" : "on";
    case SettingType::signal:
      return signal_text(value);
    case SettingType::heap:
      return heap_text(value);
    case SettingType::sync:
      return sync_text(value);
    case SettingType::source:
      return std::string(
          format::kClockSources[std::min<std::uint64_t>(value, format::kClockSources.size() - 1)]);
    case SettingType::count:
      break;
  }
  return std::to_string(value);
}

}  // namespace gnomon::reader
