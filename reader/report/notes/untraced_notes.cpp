// What the kernel counts of a process beyond its traced calls, in sentences. Any thread.
#include "reader/report/notes/untraced_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "libcollector/format/overview.h"
#include "libcollector/format/settings.h"
#include "reader/samples/samples.h"

namespace gnomon::reader {
namespace {

using format::Figure;

bool are_shown(const std::vector<MetricId>& metrics, MetricId of_event) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](MetricId each) { return row(each).event == row(of_event).event; });
}

// The data files that the process may have written itself.
std::uint64_t bytes_of_blocks(const format::ControlPage& control) {
  return format::kBlockBytes *
         std::accumulate(std::begin(control.blocks), std::end(control.blocks), std::uint64_t{0});
}

// Calls by which messages come and go do not count as characters, so that the kernel's figure may
// be too small, and never says too much.
void add_transfer_notes(const Part& part, std::vector<std::string>& notes) {
  constexpr std::uint64_t kLeast = 1 << 20, kShare = 20;  // bytes; a part in so many
  const std::vector<Sample>& samples = part.samples().all();
  if (samples.size() < 2 || part.experiment().control.children != 0) return;
  const format::Figures grown = between(samples.front().figures, samples.back().figures);
  const auto add = [&](Figure figure_of, MetricId metric, std::uint64_t own, const char* what) {
    const std::uint64_t kernels = figure(grown, figure_of), traced = part.sums().total(metric);
    if (kernels == format::kUnknownFigure ||
        kernels <= traced + own + std::max(kLeast, kernels / kShare))
      return;
    notes.push_back(fmt::format(
        "the kernel counted {:.1f} MB that the process {}, and the traced calls have {:.1f} MB of "
        "them: what libc, the loader or the program does by system calls of its own is not traced.",
        static_cast<double>(kernels - own) / 1e6, what, static_cast<double>(traced) / 1e6));
  };
  add(Figure::characters_read, kBytesRead, 0, "read");
  add(Figure::characters_written, kBytesWritten, bytes_of_blocks(part.experiment().control),
      "wrote");
}

void add_wait_note(const Part& part, std::vector<std::string>& notes) {
  constexpr std::uint64_t kLeast = 10'000'000, kShare = 20;  // ns; a part in so many
  const std::uint64_t sync = part.experiment().header.settings[format::Setting::synctrace];
  const std::uint64_t kernels = part.sums().total(kUserLock);
  const std::uint64_t traced = part.sums().total(kSyncWait);
  if (sync == 0 || kernels <= traced + std::max(kLeast, kernels / kShare)) return;
  const std::string brief =
      sync > format::kSyncAll ? fmt::format("waits of less than {:.0f} us, and ",
                                            static_cast<double>(format::sync_threshold(sync)) / 1e3)
                              : "";
  notes.push_back(fmt::format(
      "threads waited {:.3f} s for locks and other futexes, and the traced calls have {:.3f} s of "
      "it: {}locks inside libc and futexes that the program uses without it are not traced.",
      seconds(Nanoseconds{kernels}), seconds(Nanoseconds{traced}), brief));
}

}  // namespace

void add_untraced_notes(const Part& part, const std::vector<MetricId>& metrics,
                        std::vector<std::string>& notes) {
  if (!part.span().is_whole() || part.has_filter() || !part.instants().log.pauses().empty()) return;
  if (are_shown(metrics, kBytesRead)) add_transfer_notes(part, notes);
  if (are_shown(metrics, kSyncWait)) add_wait_note(part, notes);
}

}  // namespace gnomon::reader
