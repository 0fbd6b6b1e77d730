// The settings, their values and what sets each, as a table. Any thread.
#include "commands/collect/settings_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands/base/command.h"
#include "commands/collect/setting_words.h"
#include "commands/host/words.h"
#include "reader/report/base/setting_text.h"

namespace gnomon::commands {
namespace {

namespace fs = std::filesystem;
using format::Setting;
using format::SettingRow;
using format::SettingType;

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

struct Shown {
  std::string name, value, set_by, range;
};

std::string range_of(const SettingRow& row) {
  if (row.type == SettingType::signal || row.type == SettingType::heap ||
      row.type == SettingType::sync || row.type == SettingType::flag)
    return "";
  return fmt::format("{} to {}", text_of(row, row.least), text_of(row, row.most));
}

std::vector<Shown> shown_settings(const CollectSettings& settings, Speaks speaks) {
  const bool in_debugger = speaks == Speaks::commands;
  std::vector<Shown> shown;
  for (const SettingRow& row : format::kSettings) {
    const std::string_view words = in_debugger ? row.command : row.option;
    if (words.empty()) continue;
    shown.push_back(
        {std::string(row.name), reader::setting_text(row.setting, settings.values),
         in_debugger ? std::string(words) : fmt::format("{} {}", row.option, row.operand),
         range_of(row)});
    if (in_debugger && row.setting == Setting::sample_period)
      shown.push_back(
          {"sample at stops", settings.samples_at_stops ? "on" : "off", "dbxsample on|off", ""});
  }
  shown.push_back({"hwprofile", counters_shown(settings),
                   in_debugger ? "hwprofile on|off|counter DEF,..." : "-h on|off|DEF,...", ""});
  const auto store = [&](const char* what, std::string value, const char* option,
                         const char* operand) {
    shown.push_back({fmt::format("store {}", what), std::move(value),
                     in_debugger ? fmt::format("store {} {}", what, operand)
                                 : fmt::format("{} {}", option, operand),
                     ""});
  };
  std::error_code error;
  const fs::path directory = fs::canonical(settings.directory, error);
  store("directory", error ? settings.directory : directory.string(), "-d", "DIRECTORY");
  const std::string stem = settings.group.empty() ? "test" : fs::path(settings.group).stem();
  store("experiment", settings.experiment.empty() ? stem + ".N.er" : settings.experiment, "-o",
        "NAME.er");
  store("group", settings.group.empty() ? "none" : settings.group, "-g", "NAME.erg");
  return shown;
}

}  // namespace

Result<reader::Table> settings_table(const CollectSettings& settings, Speaks speaks,
                                     std::string_view item) {
  reader::Table table;
  table.columns = {{"setting", {}}, {"value", {}}, {"set_by", {}}};
  if (speaks == Speaks::options) table.columns.push_back({"range", {}});
  std::vector<std::string_view> items{"all"};
  const std::vector<Shown> shown = shown_settings(settings, speaks);
  for (const Shown& each : shown) {
    const std::string_view name = first_word(each.name);
    if (items.back() != name) items.push_back(name);
    if (!item.empty() && item != "all" && item != name) continue;
    table.rows.push_back({each.name, each.value, each.set_by});
    if (speaks == Speaks::options) table.rows.back().emplace_back(each.range);
  }
  if (!table.rows.empty()) return table;
  return fault(fmt::format("there is no setting {}", item),
               suggestion(item, items, fmt::format("{} are known", fmt::join(items, ", "))));
}

}  // namespace gnomon::commands
