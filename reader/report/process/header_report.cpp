// What was recorded, where and how: notes first, as er_print's `header` has it. Any thread.
#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "libcollector/format/names.h"
#include "reader/io/file.h"
#include "reader/report/asked/report.h"
#include "reader/report/base/run_text.h"
#include "reader/report/base/setting_text.h"
#include "reader/report/notes/losses.h"
#include "reader/report/process/figures.h"

namespace gnomon::reader {
namespace {

// The lines of the file `notes`, which users may write themselves.
std::vector<std::string> users_notes(const std::string& directory) {
  std::vector<std::string> lines;
  const std::string path = directory + "/" + format::kNotesFile;
  if (is_missing(path)) return lines;
  const auto text = read_text(path);
  if (!text) return lines;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string processors(const Header& header) {
  if (header.cpus == 0) return "";
  std::string text =
      fmt::format("{} x {}", header.cpus, header.cpu_model.empty() ? "CPU" : header.cpu_model);
  if (header.cpu_mhz != 0) text += fmt::format(", {} MHz", header.cpu_mhz);
  return text;
}

std::string capitalized(std::string_view name) {
  std::string text(name);
  text.front() = static_cast<char>(std::toupper(text.front()));
  return text;
}

std::string mebibytes(std::uint64_t bytes) {
  return bytes == 0 ? "" : fmt::format("{} MiB", bytes >> 20);
}

std::string counters_text(const Experiment& experiment) {
  std::string text;
  for (const CounterLine& each : experiment.counters)
    text +=
        fmt::format("{}{}, a sample each {}", text.empty() ? "" : "; ", each.name, each.interval);
  return text;
}

}  // namespace

Table header_report(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  const Header& header = experiment.header;
  const format::ControlPage& control = experiment.control;
  Table table;
  table.title = fmt::format("Experiment: {}", experiment.directory);
  table.notes = users_notes(experiment.directory);
  for (std::string& note : process_notes(analysis)) table.notes.push_back(std::move(note));
  table.columns = {{"item", {}}, {"value", {}, true, Type::text, true}};
  const auto add = [&](const std::string& item, const std::string& value) {
    if (!value.empty()) table.rows.push_back({item, value});
  };
  add("Program", command_line(header));
  add("Executable", fmt::format("{} (64 bits)", header.executable));
  add("Process", std::to_string(header.pid));
  add("Parent", header.parent == 0 ? "" : std::to_string(header.parent));
  add("Working directory", header.working_directory);
  add("Collector", fmt::format("Gnomon {}, experiment format {}.{}", header.collector,
                               control.major, control.minor));
  if (!header.outside.empty()) add("Recorded", "from outside: " + header.outside);
  add("Host",
      fmt::format("{}, {} {} on {}", header.host, header.system, header.release, header.machine));
  add("Processors", processors(header));
  add("Memory", mebibytes(header.memory_bytes));
  add("Page size", header.page_bytes == 0 ? "" : fmt::format("{} bytes", header.page_bytes));
  add("Clock", clock_text(experiment, analysis.first().instants().log));
  for (const format::SettingRow& row : format::kSettings)
    if (row.setting != format::Setting::profile && !row.option.empty() &&
        (header.settings[row.setting] != row.initial ||
         row.setting == format::Setting::sample_period))
      add(capitalized(row.name), setting_text(row.setting, header.settings));
  add("Counters", counters_text(experiment));
  add("Call stacks", "walked by " + header.stack_walk);
  add("Began", date_of(experiment, control.start_time));
  const Log& log = analysis.first().instants().log;
  const std::uint64_t end = control.end_time != 0 ? control.end_time : log.process_end();
  if (control.end_time == 0) add("State", recording_state(experiment, log));
  if (end != 0) {
    add("Ended", date_of(experiment, end));
    add("Duration", fmt::format("{:.3f} s", seconds(since_start(experiment, end))));
  }
  return table;
}

}  // namespace gnomon::reader
