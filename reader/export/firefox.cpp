// The processed profile format of profiler.firefox.com (github.com/firefox-devtools/profiler,
// docs-developer/processed-profile-format.md), version 47: events in time and by thread. Any
// thread.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "reader/export/formats.h"
#include "reader/export/weights.h"

namespace gnomon::reader {
namespace {

constexpr int kVersion = 47;
constexpr const char* kNull = "null";

std::string joined(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "" : ",") + cell;
  return text;
}

std::string repeated(const char* cell, std::size_t times) {
  return joined(std::vector<std::string>(times, cell));
}

// The samples of a thread, and the tables that its call stacks need.
class ThreadTables {
 public:
  ThreadTables(const Profile& profile, Places& code, const Interrupt& interrupt)
      : profile_(profile), code_(code), interrupt_(interrupt) {}

  // time: ns.
  void add(std::uint64_t time, std::uint64_t weight, CallId node) {
    samples_.push_back({time, weight, node});
  }

  // To be called once, behind the last sample. The format wants samples in order of time.
  void put_in_order() {
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const Sample& a, const Sample& b) { return a.time < b.time; });
    for (const Sample& each : samples_) {
      times_.push_back(fmt::format("{:.6f}", static_cast<double>(each.time) / 1e6));
      weights_.push_back(std::to_string(each.weight));
      stacks_.push_back(stack_of(each.node));
    }
    samples_.clear();
  }

  // name: a string of JSON.
  std::string json(std::int64_t pid, std::uint32_t tid, const std::string& name, bool is_main,
                   Quantity quantity) const {
    const std::size_t frames = functions_.size(), nodes = prefixes_.size();
    std::string text = fmt::format(
        "{{\"processType\":\"default\",\"processName\":{0},\"processStartupTime\":0,"
        "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
        "\"pausedRanges\":[],\"name\":{0},\"isMainThread\":{1},\"pid\":\"{2}\",\"tid\":{3},\n",
        name, is_main, pid, tid);
    text += fmt::format(
        "\"samples\":{{\"weightType\":\"{}\",\"weight\":[{}],\"time\":[{}],\"stack\":[{}],"
        "\"length\":{}}},\n",
        quantity == Quantity::time    ? "tracing-ms"
        : quantity == Quantity::bytes ? "bytes"
                                      : "samples",
        joined(weights_of(quantity)), joined(times_), joined(stacks_), times_.size());
    text +=
        "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
        "\"category\":[],\"length\":0},\n";
    text += fmt::format(
        "\"stackTable\":{{\"frame\":[{}],\"prefix\":[{}],\"category\":[{}],\"subcategory\":[{}],"
        "\"length\":{}}},\n",
        joined(frames_), joined(prefixes_), repeated("0", nodes), repeated("0", nodes), nodes);
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < frames; ++i) numbers.push_back(std::to_string(i));
    text += fmt::format(
        "\"frameTable\":{{\"address\":[{0}],\"inlineDepth\":[{1}],\"category\":[{2}],"
        "\"subcategory\":[{2}],\"func\":[{3}],\"nativeSymbol\":[{2}],\"innerWindowID\":[{2}],"
        "\"implementation\":[{2}],\"line\":[{2}],\"column\":[{2}],\"length\":{4}}},\n",
        repeated("-1", frames), repeated("0", frames), repeated(kNull, frames), joined(numbers),
        frames);
    text += fmt::format(
        "\"funcTable\":{{\"isJS\":[{0}],\"relevantForJS\":[{0}],\"name\":[{1}],\"resource\":[{2}],"
        "\"fileName\":[{3}],\"lineNumber\":[{4}],\"columnNumber\":[{5}],\"length\":{6}}},\n",
        repeated("false", frames), joined(names_), joined(resources_), joined(files_),
        joined(lines_), repeated(kNull, frames), frames);
    const std::size_t libraries = libraries_.size();
    std::vector<std::string> libs;
    for (std::size_t i = 0; i < libraries; ++i) libs.push_back(std::to_string(library_numbers_[i]));
    text += fmt::format(
        "\"resourceTable\":{{\"lib\":[{}],\"name\":[{}],\"host\":[{}],\"type\":[{}],"
        "\"length\":{}}},\n",
        joined(libs), joined(library_names_), repeated(kNull, libraries), repeated("1", libraries),
        libraries);
    text +=
        "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
        "\"length\":0},\n";
    return text + fmt::format("\"stringArray\":[{}]}}", joined(strings_));
  }

  // Numbers of load objects in the profile's list, which grows.
  void number_libraries(std::map<std::string, std::size_t>& all) {
    for (const std::string& path : library_order_)
      library_numbers_.push_back(all.try_emplace(path, all.size()).first->second);
  }

 private:
  // Milliseconds with all their digits where the weight is a time.
  std::vector<std::string> weights_of(Quantity quantity) const {
    if (quantity != Quantity::time) return weights_;
    std::vector<std::string> out;
    for (const std::string& each : weights_) {
      const std::uint64_t ns = std::stoull(each);
      out.push_back(fmt::format("{}.{:06}", ns / 1'000'000, ns % 1'000'000));
    }
    return out;
  }

  std::string stack_of(CallId node) {
    if (node == CallId::total) return kNull;
    if (const auto known = nodes_.find(index(node)); known != nodes_.end())
      return std::to_string(known->second);
    // From the outermost unknown node down.
    std::vector<CallId> path;
    CallId at = node;
    for (; at != CallId::total && !nodes_.contains(index(at)); at = profile_.tree().node(at).parent)
      path.push_back(at);
    std::string prefix = at == CallId::total ? kNull : std::to_string(nodes_[index(at)]);
    for (auto each = path.rbegin(); each != path.rend(); ++each) {
      frames_.push_back(std::to_string(frame_of(profile_.tree().node(*each).function)));
      prefixes_.push_back(prefix);
      nodes_[index(*each)] = prefixes_.size() - 1;
      prefix = std::to_string(prefixes_.size() - 1);
    }
    return prefix;
  }

  // A frame stands for a function, and has its number.
  std::size_t frame_of(FunctionId id) {
    const auto [at, is_new] = functions_.try_emplace(index(id), functions_.size());
    if (!is_new) return at->second;
    const SourcePlace begin = code_.begin_of(id, interrupt_);
    names_.push_back(string_of(profile_.name(id)));
    files_.push_back(begin.is_known() ? string_of(code_.files().path(begin.file)) : kNull);
    lines_.push_back(begin.is_known() ? std::to_string(begin.line) : kNull);
    resources_.push_back(resource_of(profile_.function(id).object));
    return at->second;
  }

  std::string resource_of(const std::string& path) {
    if (path.empty()) return "-1";
    const auto [at, is_new] = libraries_.try_emplace(path, libraries_.size());
    if (is_new) {
      library_order_.push_back(path);
      library_names_.push_back(string_of(path.substr(path.rfind('/') + 1)));
    }
    return std::to_string(at->second);
  }

  std::string string_of(const std::string& text) {
    const auto [at, is_new] = string_numbers_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(json_string(text));
    return std::to_string(at->second);
  }

  struct Sample {
    std::uint64_t time, weight;
    CallId node;
  };

  const Profile& profile_;
  Places& code_;
  const Interrupt& interrupt_;
  std::vector<Sample> samples_;
  std::vector<std::string> times_, weights_, stacks_;           // samples
  std::vector<std::string> frames_, prefixes_;                  // stackTable
  std::vector<std::string> names_, files_, lines_, resources_;  // funcTable
  std::vector<std::string> library_order_, library_names_;      // resourceTable
  std::vector<std::size_t> library_numbers_;
  std::vector<std::string> strings_;
  std::unordered_map<std::uint32_t, std::size_t> nodes_, functions_;
  std::map<std::string, std::size_t> libraries_, string_numbers_;
};

// By number of the part and of the thread.
using Threads = std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadTables>;

// When the first of the experiments began, CLOCK_REALTIME, ns.
std::uint64_t begin_of(const Analysis& analysis) {
  std::uint64_t begin = ~std::uint64_t{0};
  for (const auto& part : analysis.parts())
    begin = std::min(begin, part->experiment().header.start_realtime);
  return begin;
}

Result<void> add_threads(const ExportSource& source, Part& part, Threads& threads) {
  const Experiment& experiment = part.experiment();
  const std::uint64_t start = experiment.control.start_time;
  const std::uint64_t since = experiment.header.start_realtime - begin_of(source.analysis);
  return each_weight(source, part, [&](const Event& event, std::uint64_t weight, CallId node) {
    const std::uint64_t time = part.time_of(event);
    const auto thread = threads.try_emplace({part.number(), Part::thread_of(event)}, source.profile,
                                            source.analysis.code(), source.interrupt);
    thread.first->second.add(since + time - std::min(time, start), weight, node);
  });
}

std::string library_json(const std::string& path) {
  const std::string name = json_string(path.substr(path.rfind('/') + 1)), whole = json_string(path);
  return fmt::format(
      "{{\"arch\":\"x86_64\",\"name\":{0},\"path\":{1},\"debugName\":{0},\"debugPath\":{1},"
      "\"breakpadId\":\"\",\"codeId\":null}}",
      name, whole);
}

}  // namespace

Result<void> write_firefox(const ExportSource& source, const Put& put) {
  Threads threads;
  for (const auto& part : source.analysis.parts())
    if (auto added = add_threads(source, *part, threads); !added) return added;
  const Header& header = source.analysis.experiment().header;
  std::map<std::string, std::size_t> libraries;
  for (auto& [id, tables] : threads) {
    tables.put_in_order();
    tables.number_libraries(libraries);
  }
  std::vector<std::string> libs(libraries.size());
  for (const auto& [path, number] : libraries) libs[number] = library_json(path);
  const std::string product = json_string(title_of(source.analysis.experiment()));
  auto done = put(fmt::format(
      "{{\"meta\":{{\"version\":27,\"preprocessedProfileVersion\":{},\"interval\":{},"
      "\"startTime\":{:.3f},\"processType\":0,\"product\":{},\"stackwalk\":1,"
      "\"symbolicated\":true,\"presymbolicated\":true,\"markerSchema\":[],\"debug\":false,"
      "\"platform\":\"Linux\",\"oscpu\":\"Linux\",\"categories\":[{{\"name\":\"Other\","
      "\"color\":\"grey\",\"subcategories\":[\"Other\"]}}]}},\n\"libs\":[{}],\n"
      "\"pages\":[],\"counters\":[],\"threads\":[\n",
      kVersion, static_cast<double>(header.interval.value) / 1e6,
      static_cast<double>(begin_of(source.analysis)) / 1e6, product, joined(libs)));
  const char* between = "";
  for (const auto& [id, tables] : threads) {
    if (!done) return done;
    const Part& part = *source.analysis.parts()[id.first - 1];
    const std::int64_t pid = part.experiment().header.pid;
    done = put(between + tables.json(pid, id.second, json_string(title_of(part.experiment())),
                                     id.second == pid, row(source.metric).quantity));
    between = ",\n";
  }
  return done ? put("]}\n") : done;
}

}  // namespace gnomon::reader
