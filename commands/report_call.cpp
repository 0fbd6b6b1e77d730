// What the commands that report on an experiment share. Any thread.
#include "commands/report_call.h"

#include <fmt/format.h>

#include "reader/report/run_text.h"

namespace gnomon::commands {

Result<std::string> directory_of(Host& host, const Invocation& call) {
  return call.experiment ? Result<std::string>(*call.experiment) : host.experiment();
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

namespace {

Result<reader::Analysis*> analysis_with(Host& host, const Invocation& call,
                                        const std::string& filter) {
  const auto directory = directory_of(host, call);
  if (!directory) return tl::unexpected(directory.error());
  return host.analysis(*directory, {call.span, filter, host.choice().view.inlines});
}

}  // namespace

Result<reader::Analysis*> analysis_of(Host& host, const Invocation& call) {
  return analysis_with(host, call, host.choice().selection.expression(call.filters));
}

Result<reader::Analysis*> all_events(Host& host, const Invocation& call) {
  return analysis_with(host, call, "");
}

Result<Answer> render_report(Host& host, const Invocation& call, const reader::Analysis& analysis,
                             reader::Table table) {
  const reader::Experiment& experiment = analysis.experiment();
  if (!call.experiment && !host.is_obvious(experiment))
    table.title.insert(0,
                       fmt::format("{}: {}, process {}\n", one_line(experiment.directory),
                                   reader::command_line(experiment.header), experiment.header.pid));
  return render(host, call, table);
}

}  // namespace gnomon::commands
