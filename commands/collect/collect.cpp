// `gnomon collect`: records a program that it executes in place of itself; or see
// collect_process.cpp. The program's only thread.
#include "commands/collect/collect.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "commands/base/help.h"
#include "commands/collect/machine_clock.h"
#include "commands/collect/setting_words.h"
#include "commands/collect/settings_list.h"
#include "commands/host/library_folders.h"
#include "injector/base/counters.h"
#include "injector/base/outside.h"
#include "injector/base/overwriting.h"
#include "injector/files/preflight.h"
#include "injector/launch/execute.h"
#include "injector/launch/program_file.h"

namespace gnomon::commands {
namespace {

Result<injector::Settings> settings_of(const CollectLine& line) {
  const CollectSettings& wanted = line.settings;
  auto settings = injector::new_settings(
      library_folders(), {wanted.directory, wanted.experiment, wanted.group}, wanted.values);
  if (!settings) return settings;
  settings->notes = wanted.notes;
  settings->counters = wanted.counters;
  return settings;
}

struct Checked {
  injector::ProgramFile program;
  std::optional<Fault> obstacle;  // why it is recorded from outside
};

// Checks everything that can be known before the program runs.
Result<Checked> check(const CollectLine& line, const injector::Settings& settings) {
  auto program = injector::find_program(line.program.front());
  if (!program) return tl::unexpected(program.error());
  const std::string& executable = program->executable;
  if (auto fits = injector::check_privileges(executable); !fits)
    return tl::unexpected(fits.error());
  const auto fits = injector::check_program(executable);
  if (fits) return Checked{std::move(*program), {}};
  const auto kind = injector::check_kind(executable);
  if (kind || !injector::is_native(executable)) return tl::unexpected(fits.error());
  if (!injector::may_record_from_outside(settings))
    return tl::unexpected(injector::no_way_in(settings, fits.error()));
  return Checked{std::move(*program), kind.error()};
}

std::string settings_text(const CollectLine& line) {
  const auto table = settings_table(line.settings, Speaks::options);
  return table ? reader::to_text(*table).value_or("") : "";
}

// What is to be recorded, as the user wrote it.
std::string subject_of(const CollectLine& line) {
  if (line.process != 0) return fmt::format("process {}", line.process);
  return fmt::format("{}", fmt::join(line.program, " "));
}

// Returns only if the program was not executed.
Result<Answer> execute_program(const CollectLine& line, const Checked& checked,
                               const injector::Settings& settings) {
  for (const std::string& warning : line.warnings)
    fmt::print(stderr, "gnomon: note: {}\n", one_line(warning));
  return tl::unexpected(
      injector::execute_recorded({settings, checked.program, line.program, line.is_stopped,
                                  "gnomon: ", plain_lines, checked.obstacle}));
}

Result<Answer> record(const CollectLine& line) {
  const auto settings = settings_of(line);
  if (!settings) return tl::unexpected(settings.error());
  Checked program;
  if (line.process == 0) {
    auto checked = check(line, *settings);
    if (!checked) return tl::unexpected(checked.error());
    program = std::move(*checked);
  }
  const auto old = injector::existing_experiment(*settings, line.is_over_existing);
  if (!old) return tl::unexpected(old.error());
  if (line.is_trial)
    return Answer{fmt::format("{}\nNothing runs; without -n this would record {}.\n",
                              settings_text(line), subject_of(line)),
                  line.warnings};
  if (line.is_verbose) fmt::print(stderr, "{}\n{}\n", version_text(), settings_text(line));
  if (auto gone = injector::remove_experiment(*old); !gone) return tl::unexpected(gone.error());
  if (line.process == 0) return execute_program(line, program, *settings);
  auto answer = collect_process(line, *settings);
  if (answer) answer->warnings = line.warnings;
  return answer;
}

std::string clock_of_machine() {
  const MachineClock& clock = machine_clock();
  const double tick = static_cast<double>(clock.tick) / 1e6;
  if (clock.is_exact) return "This machine's clock: perf events, at any interval of the range.";
  return fmt::format(
      "This machine's clock: timers, which expire at the kernel's ticks, every {:g} ms; with "
      "kernel.perf_event_paranoid at 1 or lower it is perf events, at any interval of the range.",
      tick);
}

// Where gnomon-counters lies.
Result<std::string> library_folder() {
  const auto settings = injector::new_settings(library_folders(), {}, {});
  if (!settings) return tl::unexpected(settings.error());
  return std::filesystem::path(settings->library).parent_path().string();
}

Result<Answer> counter_list() {
  const auto folder = library_folder();
  if (!folder) return tl::unexpected(folder.error());
  auto text = injector::list_counters(*folder);
  if (!text) return tl::unexpected(text.error());
  return Answer{std::move(*text), {}};
}

Result<void> resolve_counters(CollectSettings& settings) {
  if (settings.counter_words.empty()) return {};
  const auto folder = library_folder();
  if (!folder) return tl::unexpected(folder.error());
  auto text = injector::resolve_counters(*folder, settings.counter_words);
  if (!text) return tl::unexpected(text.error());
  settings.counters = std::move(*text);
  return {};
}

}  // namespace

std::string collect_help() {
  return fmt::format("{}\n{}\n{}\n{}", collect_syntax(), collect_options_text(),
                     settings_text(CollectLine{}), wrapped(clock_of_machine(), "", ""));
}

Result<Answer> collect(std::span<const std::string> words) {
  const bool asks = words.size() == 1 && words[0] == "--help";
  if (words.empty() || asks) return Answer{collect_help(), {}};
  if (words.size() == 1 && words[0] == "-h") return counter_list();
  auto line = read_collect_line(words);
  if (!line) return tl::unexpected(line.error());
  if (auto known = resolve_counters(line->settings); !known) return tl::unexpected(known.error());
  if (line->wants_version) return Answer{version_text(), {}};
  if (line->is_end) return end_collecting(line->process);
  if (line->process != 0 || !line->program.empty()) return record(*line);
  return fault("gnomon collect needs a program, or -P with the number of a process",
               "`gnomon collect` without a word shows how");
}

}  // namespace gnomon::commands
