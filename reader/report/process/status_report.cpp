// What is recorded, how, and what was lost. Any thread.
#include <fmt/format.h>

#include "reader/experiment/experiment.h"
#include "reader/report/asked/report.h"
#include "reader/report/base/run_text.h"
#include "reader/report/notes/losses.h"
#include "reader/report/traced/tracer_text.h"

namespace gnomon::reader {
Table status_report(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment();
  const Header& header = experiment.header;
  Table table;
  const Profile* const profile = analysis.kept_profile();
  table.notes = profile ? all_notes(analysis, *profile, {}) : loss_notes(analysis, nullptr);
  table.columns = {{"item", {}}, {"value", {}, true, Type::text, true}};
  const auto add = [&](const std::string& item, const std::string& value) {
    table.rows.push_back({item, value});
  };
  add("Experiment", experiment.directory);
  add("State", recording_state(experiment, analysis.first().instants().log));
  add("Program", command_line(header));
  add("Process", std::to_string(header.pid));
  add("Clock", clock_text(experiment, analysis.first().instants().log));
  add("Call stacks", "walked by " + header.stack_walk);
  add("Threads", std::to_string(experiment.control.threads));
  const Nanoseconds time{analysis.sums().total(kTotalCpu)};
  add("Samples",
      fmt::format("{}, {:.3f} s of CPU time", analysis.sums().total(kTicks), seconds(time)));
  const auto total_of = [&](MetricId metric) {
    return static_cast<std::int64_t>(analysis.sums().total(metric));
  };
  for (const format::TracerRow& tracer : format::kTracers)
    if (is_on(tracer, header.settings) && !tracer.status.empty())
      add(std::string(tracer.title),
          tracer_text(tracer, tracer.status, header.settings[tracer.setting], total_of));
  return table;
}

}  // namespace gnomon::reader
