// Profiles for other tools. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands/reports/report_call.h"
#include "reader/export/export.h"
#include "reader/report/base/columns.h"

namespace gnomon::commands {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

tl::unexpected<Fault> cannot_write(const std::string& path) {
  return fault(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
               "name a file that you may write");
}

// That of the call's argument, or the first that reports show and there is data for.
Result<reader::MetricId> metric_of(Host& host, const Invocation& call,
                                   const reader::Analysis& analysis) {
  if (!call.arguments.empty()) {
    const auto table = reader::metric_table();
    const auto at = std::find_if(table.begin(), table.end(), [&](const reader::Metric& each) {
      return each.key == call.arguments.front();
    });
    if (at == table.end())
      return fault("there is no metric " + call.arguments.front(), "`metric_list` lists them");
    return reader::MetricId{static_cast<std::uint32_t>(at - table.begin())};
  }
  const auto shown = reader::shown(view_of(host, call), analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const reader::AllSums& sums = analysis.sums();
  for (const reader::MetricId metric : shown->metrics.metrics())
    if (sums.has(metric)) return metric;
  for (std::uint32_t m = 0; m < reader::metric_table().size(); ++m)
    if (sums.has(reader::MetricId{m})) return reader::MetricId{m};
  return reader::kTotalCpu;
}

// All of it, or nothing: a file is not left half written.
Result<Answer> write_to(const std::string& path, reader::ExportFormat format,
                        reader::Analysis& analysis, reader::MetricId metric,
                        const Interrupt& interrupt) {
  const std::string part = path + ".part";
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(part.c_str(), "we"));
  if (!file) return cannot_write(part);
  std::uint64_t bytes = 0;
  auto done = export_profile(
      format, analysis, metric, interrupt, [&](std::string_view piece) -> Result<void> {
        bytes += piece.size();
        if (std::fwrite(piece.data(), 1, piece.size(), file.get()) == piece.size()) return {};
        return cannot_write(part);
      });
  if (done && std::fclose(file.release()) != 0) done = cannot_write(part);
  if (done && std::rename(part.c_str(), path.c_str()) != 0) done = cannot_write(path);
  if (!done) {
    std::remove(part.c_str());
    return tl::unexpected(done.error());
  }
  return Answer{fmt::format("{} bytes are written to {}.\n", bytes, path), {}};
}

Result<Answer> run_export(Host& host, const Invocation& call) {
  if (!call.to) return fault("no format is named", "--to collapsed, speedscope, pprof or firefox");
  const reader::ExportFormat format = *reader::export_format_named(*call.to);
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  const auto metric = metric_of(host, call, **analysis);
  if (!metric) return tl::unexpected(metric.error());
  const Interrupt interrupt = host.interrupt();
  if (call.output) return write_to(*call.output, format, **analysis, *metric, interrupt);
  const reader::Put printer = host.printer();
  if (!printer) return fault("no file is named", "--output FILE");
  auto done = export_profile(format, **analysis, *metric, interrupt, printer);
  if (!done) return tl::unexpected(done.error());
  return Answer{};
}

constexpr std::array kExports{
    Command{"export", "", "[METRIC]", "Write the call stacks for another tool.",
            "Weights are whole numbers: nanoseconds, bytes or counts. METRIC is one that "
            "`metric_list` names; without it, the first that reports show. In the shell, without "
            "--output, it is written to the standard output.\n",
            kEvents | OptionId::to | OptionId::output, Role::report, 1, run_export},
};

}  // namespace

std::span<const Command> export_commands() { return kExports; }

}  // namespace gnomon::commands
