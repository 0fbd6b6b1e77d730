// The samples of an experiment: what the kernel said of the process at several instants. Any
// thread, one at a time.
#include "reader/samples/samples.h"

#include <algorithm>

#include "reader/experiment/json_members.h"
namespace gnomon::reader {
namespace {

using Json = nlohmann::json;

format::Figures figures_in(const Json& object) {
  format::Figures figures = format::unknown_figures();
  for (const format::FigureRow& row : format::kFigures)
    figure(figures, row.figure) =
        field<std::uint64_t>(object, row.key.data(), format::kUnknownFigure);
  return figures;
}

Sample sample_in(const Json& line) {
  Sample sample{field<std::string>(line, "event"),
                field<std::string>(line, "label"),
                field<std::uint64_t>(line, "time"),
                figures_in(line),
                {},
                field<std::uint64_t>(line, "threads_left_out")};
  for (const Json& each : member(line, "of_threads"))
    sample.threads.push_back(
        {field<std::uint32_t>(each, "thread"), field<std::string>(each, "name"), figures_in(each)});
  return sample;
}

}  // namespace

// Returns false if the line has no number of its own. Two processes append to the file, so the
// times of neighbours may be the wrong way round.
bool Samples::add(const Json& line) {
  if (!numbers_.add(line)) return false;
  for (const Json& child : member(line, "of_children"))
    children_[field<std::uint32_t>(child, "process")] = field<std::string>(child, "name");
  Sample sample = sample_in(line);
  if (sample.event ==
      format::kSampleEvents[static_cast<std::size_t>(format::SampleEvent::baseline)]) {
    baseline_ = std::move(sample.threads);
    return true;
  }
  const auto at =
      std::upper_bound(samples_.begin(), samples_.end(), sample,
                       [](const Sample& a, const Sample& b) { return a.time < b.time; });
  samples_.insert(at, std::move(sample));
  return true;
}

void Samples::read_new(const Experiment& experiment) {
  const auto damaged =
      each_new_line(experiment.directory + "/" + format::kOverviewFile, experiment.header.session,
                    read_, [this](const Json& line) { return add(line); });
  fault_ = damaged ? "" : damaged.error().what;
  if (!damaged) return;
  damaged_ += *damaged;
  lost_ = experiment.is_still
              ? std::max(damaged_, numbers_.missing(experiment.control.overview_lines))
              : damaged_;
}

format::Figures between(const format::Figures& before, const format::Figures& after) {
  format::Figures span = after;
  for (const format::FigureRow& row : format::kFigures) {
    std::uint64_t& value = figure(span, row.figure);
    const std::uint64_t begin = figure(before, row.figure);
    if (!row.grows || value == format::kUnknownFigure) continue;
    value =
        begin == format::kUnknownFigure || begin > value ? format::kUnknownFigure : value - begin;
  }
  return span;
}

}  // namespace gnomon::reader
