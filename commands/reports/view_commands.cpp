// Commands that choose what later reports show. Any thread.
#include <fmt/format.h>

#include <array>

#include "commands/base/command.h"
#include "reader/report/asked/report.h"

namespace gnomon::commands {
namespace {

// Takes the first argument, if there is one, into the view by `take`; answers what is chosen then.
template <typename Parse, typename Take>
Result<Answer> choose(Host& host, const Invocation& call, Parse parse, Take take) {
  reader::View& view = host.choice().view;
  if (!call.arguments.empty()) {
    auto chosen = parse(call.arguments.front());
    if (!chosen) return tl::unexpected(chosen.error());
    take(view, std::move(*chosen));
  }
  return Answer{reader::current_metrics(view), {}};
}

Result<Answer> run_metrics(Host& host, const Invocation& call) {
  return choose(host, call, reader::parse_metrics,
                [](reader::View& view, reader::MetricList list) { view.show(std::move(list)); });
}

Result<Answer> run_sort(Host& host, const Invocation& call) {
  return choose(host, call, reader::parse_sort,
                [](reader::View& view, reader::Sort sort) { view.sort = sort; });
}

Result<Answer> run_limit(Host& host, const Invocation& call) {
  if (call.arguments.empty()) return fault("no number of rows is given", "0 shows all of them");
  const auto limit = whole_number(call.arguments.front());
  if (!limit)
    return fault(call.arguments.front() + " is not a number of rows", "0 shows all of them");
  host.choice().limit = *limit;
  return Answer{};
}

// on, off, or nothing, which leaves it as it is.
Result<void> choose(const Invocation& call, const std::string& command, bool& chosen) {
  if (call.arguments.empty()) return {};
  const std::string& word = call.arguments.front();
  if (word != "on" && word != "off")
    return fault(fmt::format("{} {} is not known", command, word),
                 fmt::format("type `{0} on` or `{0} off`", command));
  chosen = word == "on";
  return {};
}

Result<Answer> run_inlines(Host& host, const Invocation& call) {
  bool& inlines = host.choice().view.style.inlines;
  if (auto chosen = choose(call, "inlines", inlines); !chosen)
    return tl::unexpected(chosen.error());
  return Answer{inlines ? "Inlined functions are shown as functions of their own.\n"
                        : "What is inlined counts for the function and line of the call.\n",
                {}};
}

Result<Answer> run_kernel(Host& host, const Invocation& call) {
  bool& kernel = host.choice().view.style.kernel;
  if (auto chosen = choose(call, "kernel", kernel); !chosen) return tl::unexpected(chosen.error());
  return Answer{kernel ? "Functions of the kernel are shown where they are known.\n"
                       : "Time in the kernel counts for the function that called the kernel.\n",
                {}};
}

// A number of per cent.
template <double reader::View::*Threshold>
Result<Answer> run_threshold(Host& host, const Invocation& call) {
  double& threshold = host.choice().view.*Threshold;
  if (!call.arguments.empty()) {
    const auto percent = whole_number(call.arguments.front());
    if (!percent || *percent > 100)
      return fault(call.arguments.front() + " is no threshold", "give a number from 0 to 100");
    threshold = static_cast<double>(*percent);
  }
  return Answer{fmt::format("Marked from {:.0f} % of the largest value on.\n", threshold), {}};
}

// DIRECTORY[:DIRECTORY...]; a backslash keeps a colon.
std::vector<std::string> directories_of(const std::string& list) {
  std::vector<std::string> directories(1);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] == ':')
      directories.emplace_back();
    else
      directories.back() += list[i] == '\\' && i + 1 < list.size() ? list[++i] : list[i];
  std::erase(directories, "");
  return directories;
}

std::string search_text(const reader::SourceSearch& search) {
  std::string text = "Source path:";
  for (const std::string& directory : search.directories) text += " " + directory;
  text += "\n";
  for (const auto& [was, is] : search.maps) text += fmt::format("Path map: {} is {}\n", was, is);
  return text;
}

template <bool Adds>
Result<Answer> run_path(Host& host, const Invocation& call) {
  reader::SourceSearch& search = host.choice().view.sources;
  if (!call.arguments.empty()) {
    if (!Adds) search.directories.clear();
    for (std::string& directory : directories_of(call.arguments.front()))
      search.directories.push_back(std::move(directory));
  }
  return Answer{search_text(search), {}};
}

Result<Answer> run_pathmap(Host& host, const Invocation& call) {
  reader::SourceSearch& search = host.choice().view.sources;
  if (call.arguments.size() == 1)
    return fault("it is not said what stands for " + call.arguments.front() + " now",
                 "`pathmap OLD NEW` maps a directory");
  if (call.arguments.size() == 2)
    search.maps.insert(search.maps.begin(), {call.arguments[0], call.arguments[1]});
  return Answer{search_text(search), {}};
}

constexpr std::array kViews{
    Command{"metrics", "cmetrics gmetrics", "[LIST]", "Choose the columns of reports.",
            "LIST is KEY[:KEY...], and a KEY is FLAVOURS VISIBILITIES METRIC, such as e.%totalcpu. "
            "Flavours: e exclusive, i inclusive, a attributed, or several of them. Visibilities: . "
            "value, % share of the total, or both; ! hides. `metric_list` shows the metrics; `any` "
            "stands for all of them. Further KEYs are name, size and address; the name is always "
            "the last column. `default` is e.%totalcpu:i.%totalcpu:name. Without LIST: what is "
            "chosen.\n\nReports about calls show attributed values of the listed metrics, unless "
            "the list has keys with an a of its own.\n",
            kNoOptions, Role::view, 1, run_metrics},
    Command{"sort", "csort", "[METRIC]", "Choose the order of reports.",
            "METRIC is a KEY as in `metrics`, such as i.totalcpu, or name, size or address. A - "
            "before it reverses the order. Without METRIC: what is chosen.\n",
            kNoOptions, Role::view, 1, run_sort},
    Command{"limit", "", "N", "Limit later reports to N rows.",
            "As the option --limit of each of them; 0 shows all.\n", kNoOptions, Role::print_view,
            1, run_limit},
    Command{"inlines", "", "[on|off]", "Choose whether inlined functions are shown.",
            "on: a function that was inlined is a function of its own in every report, called from "
            "the line where it was inlined; the debug information (-g) tells. off, at first: what "
            "was inlined counts for the function and the line of the call, as it ran.\n",
            kNoOptions, Role::view, 1, run_inlines},
    Command{
        "kernel", "", "[on|off]", "Choose whether functions of the kernel are shown.",
        "on: what the kernel does for the program are functions of their own, called from where "
        "the program called the kernel. They are recorded where the kernel's clock sees time "
        "in the kernel (kernel.perf_event_paranoid 1, CAP_PERFMON), and have names where "
        "kernel.kptr_restrict lets this user see the kernel's addresses. off, at first: their "
        "time counts for the function and the line that called the kernel.\n",
        kNoOptions, Role::view, 1, run_kernel},
    Command{"sthresh", "", "[PERCENT]", "Choose which source lines are marked as hot.",
            "`source` marks a line with ## if one of its values is at least so much of the largest "
            "one in the listing. Without PERCENT: what is chosen. It is 75 at first.\n",
            kNoOptions, Role::view, 1, run_threshold<&reader::View::source_threshold>},
    Command{"dthresh", "", "[PERCENT]", "Choose which instructions are marked as hot.",
            "As `sthresh`, for `disasm`.\n", kNoOptions, Role::view, 1,
            run_threshold<&reader::View::disassembly_threshold>},
    Command{"setpath", "", "[DIRECTORY[:DIRECTORY...]]",
            "Choose the directories in which sources are looked for.",
            "A source that is not where it was compiled, nor where `pathmap` says, is looked for "
            "below these: by as much of the end of its path as there is. Without DIRECTORY: what "
            "is chosen. It is the current directory at first.\n",
            kNoOptions, Role::view, 1, run_path<false>},
    Command{"addpath", "", "[DIRECTORY[:DIRECTORY...]]",
            "Add directories in which sources are looked for.", "As `setpath`, behind those.\n",
            kNoOptions, Role::view, 1, run_path<true>},
    Command{"pathmap", "", "[OLD NEW]", "Say where sources are now.",
            "The sources whose paths begin with OLD are looked for at NEW first. In LLDB its own "
            "`settings set target.source-map` counts as well. Without OLD and NEW: what is "
            "chosen.\n",
            kNoOptions, Role::view, 2, run_pathmap},
};

}  // namespace

std::span<const Command> view_commands() { return kViews; }

}  // namespace gnomon::commands
