// Finds the span that a user has chosen by the names of samples, by stops or by a time. Any thread.
#include "reader/analysis/span.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "reader/base/clock.h"
#include "reader/base/units.h"
#include "reader/experiment/experiment.h"
#include "reader/samples/instants.h"

namespace gnomon::reader {
namespace {

// The newest sample of that name; null: there is none.
const Sample* named(const std::vector<Sample>& samples, const std::string& name) {
  const auto at = std::find_if(samples.rbegin(), samples.rend(),
                               [&](const Sample& each) { return each.name() == name; });
  return at == samples.rend() ? nullptr : &*at;
}

Result<const Sample*> sample_named(const Instants& instants, const std::string& name) {
  const std::vector<Sample>& samples = instants.samples.all();
  if (const Sample* sample = named(samples, name)) return sample;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  if (is_number && number > 0 && number <= samples.size()) return &samples[number - 1];
  return fault(fmt::format("there is no sample {}", name),
               "`samples` lists them; `collector sample record NAME` takes one");
}

Result<Span> since_stop(const Instants& instants, Progress progress) {
  const std::vector<Stop>& stops = instants.log.stops();
  if (stops.empty())
    return fault("no stop of the program is noted",
                 "stops in LLDB are noted while the process is recorded, from `collector enable` "
                 "on");
  if (progress != Progress::stopped) return Span{stops.back().time};
  constexpr std::uint64_t kBeginning =
      1;  // before anything, but not 0: that is the whole recording
  return Span{stops.size() == 1 ? kBeginning : stops[stops.size() - 2].time};
}

// The last instant of a recording that is over, as far as anything tells.
std::uint64_t end_of(const Experiment& experiment, const Instants& instants) {
  if (experiment.control.end_time != 0) return experiment.control.end_time;
  const std::vector<Sample>& samples = instants.samples.all();
  return std::max(instants.log.process_end(), samples.empty() ? 0 : samples.back().time);
}

Span since_time(std::uint64_t length, const Experiment& experiment, const Instants& instants,
                Progress progress) {
  const std::vector<Stop>& stops = instants.log.stops();
  std::uint64_t end = monotonic_now();
  if (progress == Progress::stopped && !stops.empty()) end = stops.back().time;
  if (progress == Progress::over) end = end_of(experiment, instants);
  return Span{std::max(end - std::min(end, length), experiment.control.start_time)};
}

Result<Span> between(const SpanChoice& choice, const Instants& instants) {
  const auto from = sample_named(instants, choice.from), to = sample_named(instants, choice.to);
  if (!from) return tl::unexpected(from.error());
  if (!to) return tl::unexpected(to.error());
  if ((*from)->time < (*to)->time) return Span{(*from)->time, (*to)->time};
  return fault(fmt::format("sample {} does not lie before sample {}", choice.from, choice.to),
               "name the earlier one first; of several of one name the newest counts");
}

// "1.234 s (sample a)": the stop or else the sample at just that time is named.
std::string instant_text(std::uint64_t time, const Experiment& experiment,
                         const Instants& instants) {
  const std::uint64_t start = experiment.control.start_time;
  std::string text = fmt::format("{:.3f} s", seconds(Nanoseconds{time - std::min(time, start)}));
  for (const Stop& stop : instants.log.stops())
    if (stop.time == time)
      return text + (stop.reason.empty() ? " (a stop)" : fmt::format(" (stop: {})", stop.reason));
  for (const Sample& sample : instants.samples.all())
    if (sample.time == time) return fmt::format("{} (sample {})", text, sample.name());
  return text;
}

}  // namespace

Progress progress_of(const Experiment& experiment) {
  if (!is_recording(experiment) || life_of(experiment.header) != Life::running)
    return Progress::over;
  std::ifstream file(fmt::format("/proc/{}/stat", experiment.header.pid));
  std::string text;
  std::getline(file, text);
  const auto behind = text.rfind(") ");
  if (behind == std::string::npos || behind + 2 >= text.size()) return Progress::runs;
  const char state = text[behind + 2];  // proc_pid_stat(5)
  return state == 't' || state == 'T' ? Progress::stopped : Progress::runs;
}

Result<Span> find_span(const SpanChoice& choice, const Experiment& experiment,
                       const Instants& instants, Progress progress) {
  switch (choice.kind) {
    case SpanChoice::Kind::whole:
      return Span{};
    case SpanChoice::Kind::since_stop:
      return since_stop(instants, progress);
    case SpanChoice::Kind::since_time:
      return since_time(choice.length_ns, experiment, instants, progress);
    case SpanChoice::Kind::between:
      return between(choice, instants);
    case SpanChoice::Kind::since_sample:
      break;
  }
  const auto sample = sample_named(instants, choice.from);
  if (!sample) return tl::unexpected(sample.error());
  return Span{(*sample)->time};
}

std::string span_text(const Span& span, const Experiment& experiment, const Instants& instants) {
  const std::string begin = span.begin <= experiment.control.start_time
                                ? "the beginning"
                                : instant_text(span.begin, experiment, instants);
  if (span.end == Span::kOpen) return fmt::format("from {} on", begin);
  return fmt::format("from {} to {}", begin, instant_text(span.end, experiment, instants));
}

}  // namespace gnomon::reader
