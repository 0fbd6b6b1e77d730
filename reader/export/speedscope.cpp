// The file format of speedscope (https://www.speedscope.app/file-format-schema.json). Any thread.
#include <fmt/format.h>

#include "reader/export/formats.h"

namespace gnomon::reader {
namespace {

std::string_view unit_of(Quantity quantity) {
  return quantity == Quantity::time    ? "nanoseconds"
         : quantity == Quantity::bytes ? "bytes"
                                       : "none";
}

std::string frame_of(Analysis& analysis, const Profile& profile, FunctionId id,
                     const Interrupt& interrupt) {
  std::string frame = fmt::format("{{\"name\":{}", json_string(profile.name(id)));
  if (const SourcePlace begin = analysis.code().begin_of(id, interrupt); begin.is_known())
    frame += fmt::format(",\"file\":{},\"line\":{}",
                         json_string(analysis.code().files().path(begin.file)), begin.line);
  return frame + "}";
}

}  // namespace

Result<void> write_speedscope(const ExportSource& source, const Put& put) {
  Analysis& analysis = source.analysis;
  const Profile& profile = source.profile;
  const MetricId metric = source.metric;
  const Interrupt& interrupt = source.interrupt;
  const CallTree& tree = profile.tree();
  const MetricValues& values = profile.values(metric);
  constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> frames(profile.functions(), kNone);
  std::string shared, weights;
  std::uint32_t count = 0;
  const auto frame_number = [&](FunctionId id) {
    std::uint32_t& number = frames[index(id)];
    if (number != kNone) return number;
    shared += (count == 0 ? "" : ",\n") + frame_of(analysis, profile, id, interrupt);
    return number = count++;
  };
  const std::string name = json_string(title_of(analysis.experiment()));
  auto done = put(fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/"
      "file-format-schema.json\",\"exporter\":\"gnomon\","
      "\"name\":{},\"activeProfileIndex\":0,\n\"profiles\":[{{\"type\":\"sampled\",\"name\":{},"
      "\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\n\"samples\":[",
      name, json_string(std::string(row(metric).title)), unit_of(row(metric).quantity),
      values.total - values.exclusive[index(CallId::total)]));
  for (std::uint32_t node = 1; done && node < tree.size(); ++node) {
    if (interrupt.asked(node)) return interrupted();
    if (values.exclusive[node] == 0) continue;
    std::string sample;
    for (const FunctionId function : path_to(profile, CallId{node}))
      sample += fmt::format("{}{}", sample.empty() ? "" : ",", frame_number(function));
    done = put(fmt::format("{}[{}]", weights.empty() ? "" : ",\n", sample));
    weights += fmt::format("{}{}", weights.empty() ? "" : ",", values.exclusive[node]);
  }
  if (done) done = put(fmt::format("],\n\"weights\":[{}]}}],\n", weights));
  if (done) done = put(fmt::format("\"shared\":{{\"frames\":[{}]}}}}\n", shared));
  return done;
}

}  // namespace gnomon::reader
