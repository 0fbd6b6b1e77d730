// What the commands that report on experiments share. Any thread.
#include "commands/reports/report_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/reports/notes_said.h"
#include "reader/experiment/group.h"
#include "reader/report/base/run_text.h"

namespace gnomon::commands {

Result<std::vector<Directories>> groups_of(Host& host, const Invocation& call) {
  const auto names =
      call.experiments.empty() ? host.experiments() : Result<Directories>(call.experiments);
  if (!names) return tl::unexpected(names.error());
  std::vector<Directories> groups;
  for (const std::string& name : *names) {
    auto group = reader::experiments_of(name);
    if (!group) return tl::unexpected(group.error());
    groups.push_back(std::move(*group));
  }
  return groups;
}

Result<Directories> directories_of(Host& host, const Invocation& call) {
  const auto groups = groups_of(host, call);
  if (!groups) return tl::unexpected(groups.error());
  Directories all;
  for (const Directories& group : *groups)
    for (const std::string& directory : group)
      if (std::find(all.begin(), all.end(), directory) == all.end()) all.push_back(directory);
  return all;
}

reader::View view_of(Host& host, const Invocation& call) {
  const Host::Choice& choice = host.choice();
  reader::View view = choice.view;
  if (call.metrics) view.show(*call.metrics);
  if (call.sort) view.sort = *call.sort;
  view.limit = call.limit.value_or(choice.limit.value_or(host.default_limit()));
  for (auto& map : host.source_maps()) view.sources.maps.push_back(std::move(map));
  view.interrupt = host.interrupt();
  return view;
}

Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call,
                                      const Directories& directories) {
  return host.analysis(directories, {call.span, host.choice().selection.expression(call.filters),
                                     host.choice().view.style});
}

Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call) {
  const auto directories = directories_of(host, call);
  if (!directories) return tl::unexpected(directories.error());
  return analysis_of(host, call, *directories);
}

Result<reader::Analysis*> all_events(Host& host, const Invocation& call) {
  const auto directories = directories_of(host, call);
  if (!directories) return tl::unexpected(directories.error());
  return host.analysis(*directories, {call.span, "", host.choice().view.style});
}

Result<Answer> render_report(Host& host, const Invocation& call, const reader::Analysis& analysis,
                             reader::Table table) {
  const bool is_obvious = host.is_obvious(analysis.experiment());
  std::string above;
  if ((call.experiments.empty() && !is_obvious) || analysis.parts().size() > 1)
    for (const auto& part : analysis.parts()) {
      const reader::Experiment& experiment = part->experiment();
      above += fmt::format("{}: {}, process {}\n", one_line(experiment.directory),
                           reader::command_line(experiment.header), experiment.header.pid);
    }
  table.title.insert(0, above);
  NotesSaid* const said = host.notes_said();
  if (said && call.format.value_or(host.choice().format) == Format::text) {
    const std::size_t known =
        said->take_known(table.notes, one_line(analysis.experiment().directory));
    if (known != 0)
      table.notes.push_back(fmt::format(
          "{} more, said before or about less than 1 % of the time: `collector status`.", known));
  }
  return render(host, call, table);
}

void append(Answer& all, Answer more) {
  if (!all.text.empty() && !more.text.empty()) all.text += '\n';
  all.text += more.text;
  all.warnings.insert(all.warnings.end(), more.warnings.begin(), more.warnings.end());
}

}  // namespace gnomon::commands
