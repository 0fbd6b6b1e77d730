// The file format of speedscope (https://www.speedscope.app/file-format-schema.json). Any thread.
#include <fmt/format.h>

#include <map>

#include "reader/analysis/thread_names.h"
#include "reader/export/formats.h"
#include "reader/export/weights.h"

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

// The frames that the profiles share.
class Frames {
 public:
  explicit Frames(const ExportSource& source)
      : source_(source), numbers_(source.profile.functions(), kNone) {}

  std::uint32_t number(FunctionId id) {
    std::uint32_t& number = numbers_[index(id)];
    if (number != kNone) return number;
    text_ += (count_ == 0 ? "" : ",\n") +
             frame_of(source_.analysis, source_.profile, id, source_.interrupt);
    return number = count_++;
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  const ExportSource& source_;
  std::vector<std::uint32_t> numbers_;
  std::string text_;
  std::uint32_t count_ = 0;
};

// The values of call stacks, by the nodes at which they end.
using Weights = std::map<std::uint32_t, std::uint64_t>;

Weights weights_of_all(const ExportSource& source) {
  const Values& exclusive = source.profile.values(source.metric).exclusive;
  Weights weights;
  for (std::uint32_t node = 1; node < source.profile.tree().size(); ++node)
    if (exclusive[node] != 0) weights.emplace(node, exclusive[node]);
  return weights;
}

struct ThreadKey {
  std::uint32_t part, thread;
  auto operator<=>(const ThreadKey&) const = default;
};

Result<std::map<ThreadKey, Weights>> weights_of_threads(const ExportSource& source) {
  std::map<ThreadKey, Weights> threads;
  for (const auto& part : source.analysis.parts()) {
    const auto read =
        each_weight(source, *part, [&](const Event& event, std::uint64_t weight, CallId node) {
          if (node != CallId::total && weight != 0)
            threads[{part->number(), Part::thread_of(event)}][index(node)] += weight;
        });
    if (!read) return tl::unexpected(read.error());
  }
  return threads;
}

Result<void> put_profile(const ExportSource& source, const std::string& name,
                         const Weights& weights, Frames& frames, const Put& put) {
  std::uint64_t sum = 0;
  for (const auto& [node, weight] : weights) sum += weight;
  auto done =
      put(fmt::format("{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,"
                      "\"endValue\":{},\n\"samples\":[",
                      json_string(name), unit_of(row(source.metric).quantity), sum));
  std::string values;
  for (auto each = weights.begin(); done && each != weights.end(); ++each) {
    if (source.interrupt.asked(each->first)) return interrupted();
    std::string sample;
    for (const FunctionId function : path_to(source.profile, CallId{each->first}))
      sample += fmt::format("{}{}", sample.empty() ? "" : ",", frames.number(function));
    done = put(fmt::format("{}[{}]", values.empty() ? "" : ",\n", sample));
    values += fmt::format("{}{}", values.empty() ? "" : ",", each->second);
  }
  return done ? put(fmt::format("],\n\"weights\":[{}]}}", values)) : done;
}

}  // namespace

// All threads first, then each by itself.
Result<void> write_speedscope(const ExportSource& source, const Put& put) {
  const auto threads = weights_of_threads(source);
  if (!threads) return tl::unexpected(threads.error());
  auto done =
      put(fmt::format("{{\"$schema\":\"https://www.speedscope.app/"
                      "file-format-schema.json\",\"exporter\":\"gnomon\","
                      "\"name\":{},\"activeProfileIndex\":0,\n\"profiles\":[",
                      json_string(title_of(source.analysis.experiment()))));
  Frames frames(source);
  const std::string metric(row(source.metric).title);
  const ThreadNames names = thread_names(source.analysis);
  if (done) done = put_profile(source, metric, weights_of_all(source), frames, put);
  for (auto each = threads->begin(); done && threads->size() > 1 && each != threads->end();
       ++each) {
    const auto& [part, thread] = each->first;
    const std::string process =
        source.analysis.parts().size() > 1
            ? fmt::format("process {}, ",
                          source.analysis.parts()[part - 1]->experiment().header.pid)
            : "";
    const auto known = names.find({part, thread});
    const std::string called = known == names.end() ? "" : fmt::format(" ({})", known->second);
    done = put(",\n");
    if (done)
      done = put_profile(source, fmt::format("{}, {}thread {}{}", metric, process, thread, called),
                         each->second, frames, put);
  }
  return done ? put(fmt::format("],\n\"shared\":{{\"frames\":[{}]}}}}\n", frames.text())) : done;
}

}  // namespace gnomon::reader
