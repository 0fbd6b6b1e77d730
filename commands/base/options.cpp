// The options of reports. Any thread.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/base/command.h"
#include "reader/export/export.h"
#include "reader/filter/expression.h"

namespace gnomon::commands {
namespace {

Result<void> set_format(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  call.format = format_named(word);
  if (call.format) return {};
  return fault(fmt::format("there is no format {}", word),
               suggestion(word, kFormats, "text, json, csv and html are known"));
}

Result<void> set_limit(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  call.limit = whole_number(word);
  if (call.limit) return {};
  return fault(fmt::format("{} is not a number of rows", word), "0 shows all of them");
}

Result<void> set_width(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  call.width = whole_number(word);
  if (call.width) return {};
  return fault(fmt::format("{} is not a number of columns", word), "0 leaves names whole");
}

Result<void> set_metrics(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  auto list = reader::parse_metrics(word);
  if (!list) return tl::unexpected(list.error());
  call.metrics = std::move(*list);
  return {};
}

Result<void> set_sort(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  auto sort = reader::parse_sort(word);
  if (!sort) return tl::unexpected(sort.error());
  call.sort = *sort;
  return {};
}

Result<void> set_since(std::span<const std::string> words, Invocation& call) {
  using Kind = reader::SpanChoice::Kind;
  if (call.span.kind != Kind::whole) return fault("a report is about one span", "omit one of them");
  const std::string& word = words.front();
  if (word == "stop") {
    call.span = {Kind::since_stop, "", "", 0};
    return {};
  }
  if (word == "sample") {
    call.span = {Kind::since_sample, words[1], "", 0};
    return {};
  }
  const auto length = time_in(word);
  if (!length || *length == 0)
    return fault(fmt::format("--since {} is unknown", word),
                 "stop, sample NAME and a time such as 10s are known");
  call.span = {Kind::since_time, "", "", *length};
  return {};
}

Result<void> set_between(std::span<const std::string> words, Invocation& call) {
  using Kind = reader::SpanChoice::Kind;
  if (call.span.kind != Kind::whole) return fault("a report is about one span", "omit one of them");
  call.span = {Kind::between, words[0], words[1], 0};
  return {};
}

Result<void> add_filter(const std::string& expression, Invocation& call) {
  if (auto parsed = reader::parse_expression(expression); !parsed)
    return tl::unexpected(parsed.error());
  call.filters.push_back(expression);
  return {};
}

Result<void> set_filter(std::span<const std::string> words, Invocation& call) {
  return add_filter(words.front(), call);
}

// A string of the expression language.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

// By number or by name.
Result<void> set_thread(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  const auto list = reader::selection_filter(reader::kThreadSelection, word);
  if (list && list->empty()) return {};
  const bool is_name = word.find_first_not_of("0123456789,-") != std::string::npos;
  if (!list && !is_name) return tl::unexpected(list.error());
  return add_filter(list ? *list : fmt::format("THRID SOME IN TNAME({})", quoted(word)), call);
}

Result<void> set_cpu(std::span<const std::string> words, Invocation& call) {
  const auto list = reader::selection_filter(reader::kCpuSelection, words.front());
  if (!list) return tl::unexpected(list.error());
  return list->empty() ? Result<void>() : add_filter(*list, call);
}

Result<void> set_parallelism(std::span<const std::string> words, Invocation& call) {
  const auto list = reader::selection_filter(reader::kParallelismSelection, words.front());
  if (!list) return tl::unexpected(list.error());
  return list->empty() ? Result<void>() : add_filter(*list, call);
}

Result<void> set_function(std::span<const std::string> words, Invocation& call) {
  return add_filter(fmt::format("FNAME({}) SOME IN STACK", quoted(words.front())), call);
}

Result<void> set_to(std::span<const std::string> words, Invocation& call) {
  const std::string& word = words.front();
  if (!reader::export_format_named(word))
    return fault(fmt::format("there is no format {} for exports", word),
                 suggestion(word, reader::kExportFormats,
                            "collapsed, speedscope, pprof and firefox are known"));
  call.to = word;
  return {};
}

Result<void> set_output(std::span<const std::string> words, Invocation& call) {
  call.output = words.front();
  return {};
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<void> set_here(std::span<const std::string> words, Invocation& call) {
  constexpr std::uint32_t kUsual = 5, kMostLines = 10'000;
  call.here = kUsual;
  if (words.empty()) return {};
  const auto lines = whole_number(words.front());
  if (!lines || *lines > kMostLines)
    return fault(fmt::format("{} is not a number of lines", words.front()), "--here 10 shows 21");
  call.here = static_cast<std::uint32_t>(*lines);
  return {};
}

Result<void> set_row(std::span<const std::string> words, Invocation& call) {
  call.row = words.empty() ? 0 : whole_number(words.front()).value_or(0);
  if (words.empty() || *call.row != 0) return {};
  return fault(fmt::format("{} is not the number of a row", words.front()),
               "rows are counted from 1, <Total> not");
}

Result<void> set_wait_for(std::span<const std::string> words, Invocation& call) {
  call.waits = true;
  if (!words.empty()) return fault("--waitfor takes no word", "omit " + words.front());
  return {};
}

Result<void> set_live(std::span<const std::string> words, Invocation& call) {
  call.live = true;
  if (!words.empty()) return fault("--live takes no word", "omit " + words.front());
  return {};
}

Result<void> set_older_than(std::span<const std::string> words, Invocation& call) {
  const auto age = time_in(words.front());
  if (!age) return fault(fmt::format("{} is not an age", words.front()), "10s, 500ms and 2m are");
  call.live = true;
  call.older_than = *age;
  return {};
}

Result<void> set_address(std::span<const std::string> words, Invocation& call) {
  call.address = words.front();
  return {};
}

Result<void> set_read(std::span<const std::string> words, Invocation& call) {
  call.watch.has_reads = true;
  if (!words.empty()) return fault("--read takes no word", "omit " + words.front());
  return {};
}

Result<void> set_all_slots(std::span<const std::string> words, Invocation& call) {
  call.watch.takes_all = true;
  if (!words.empty()) return fault("--all-slots takes no word", "omit " + words.front());
  return {};
}

Result<void> set_size(std::span<const std::string> words, Invocation& call) {
  const auto size = whole_number(words.front());
  if (!size || (*size != 1 && *size != 2 && *size != 4 && *size != 8))
    return fault(fmt::format("{} is no size that a processor watches", words.front()),
                 "1, 2, 4 and 8 bytes are");
  call.watch.size = *size;
  return {};
}

Result<void> set_period(std::span<const std::string> words, Invocation& call) {
  const auto period = whole_number(words.front());
  if (!period || *period == 0)
    return fault(fmt::format("{} is not a number of touches", words.front()),
                 "--period 100 records one in 100");
  call.watch.interval = *period;
  return {};
}

Result<void> set_by(std::span<const std::string> words, Invocation& call) {
  constexpr std::string_view kKnown[] = {"function", "line", "stack", "thread"};
  call.by = words.front();
  if (std::find(std::begin(kKnown), std::end(kKnown), call.by) != std::end(kKnown)) return {};
  return fault(fmt::format("nothing is listed by {}", words.front()),
               suggestion(words.front(), kKnown, "function, line, stack and thread are known"));
}

// Of an option that stands alone.
std::size_t takes_nothing(std::string_view) { return 0; }

// Of an option that may stand without a word.
std::size_t takes_number(std::string_view first) { return is_number(first) ? 1 : 0; }

constexpr std::array kOptions{
    Option{OptionId::format, "--format", "text|json|csv|html",
           "text is the default. json contains notes and rows; csv contains rows, and the notes "
           "are printed as warnings. Both give times in seconds.",
           "a word; text, json, csv and html are known", set_format},
    Option{OptionId::limit, "--limit", "N",
           "At most N rows, or functions where each has several; 0 shows all. The default is 40 in "
           "LLDB and unlimited in the shell.",
           "a number of rows; 0 shows all of them", set_limit},
    Option{OptionId::width, "--width", "N",
           "Shorten names in text to lines of N columns; 0 leaves them whole. The default is the "
           "width of the terminal, if there is one.",
           "a number of columns; 0 leaves names whole", set_width},
    Option{OptionId::metrics, "--metrics", "LIST",
           "The columns of this report, written as for the command `metrics`.",
           "a list such as e.%totalcpu:i.totalcpu", set_metrics},
    Option{OptionId::sort, "--sort", "METRIC",
           "The order of this report, written as for the command `sort`.",
           "a metric such as i.totalcpu", set_sort},
    Option{OptionId::since, "--since", "stop|sample NAME|TIME",
           "Only what was recorded since then. stop: what ran between the last two stops in the "
           "debugger; while the program runs, and once it has ended, since the last one. sample "
           "NAME: since the newest sample with that label, event or number. TIME, such as 10s, "
           "500ms or 2m: the last part of the recording.",
           "stop, sample NAME, or a time such as 10s", set_since,
           [](std::string_view first) -> std::size_t { return first == "sample" ? 2 : 1; }},
    Option{OptionId::between, "--between", "A B",
           "Only what was recorded between two samples, named as for --since.",
           "the names of two samples", set_between,
           [](std::string_view) -> std::size_t { return 2; }},
    Option{OptionId::filter, "--filter", "EXPRESSION",
           "Only events for which it is true, written as for the command `filters`, which counts "
           "as well.",
           "an expression such as 'THRID == 1234'", set_filter},
    Option{OptionId::thread, "--thread", "LIST|NAME",
           "Only events of these threads: numbers such as 1234,1240-1250, or a name, as `threads` "
           "shows them.",
           "numbers or the name of threads", set_thread},
    Option{OptionId::cpu, "--cpu", "LIST", "Only events on these CPUs, such as 0,2-3.",
           "numbers of CPUs", set_cpu},
    Option{OptionId::parallelism, "--parallelism", "LIST",
           "Only clock samples that were taken while so many threads of the process were on a CPU, "
           "such as 1 or 2-8.",
           "numbers of threads", set_parallelism},
    Option{OptionId::function, "--function", "NAME",
           "Only events with the function on their call stack: a name as for `csingle`, or a "
           "regular expression for all of the name.",
           "the name of a function", set_function},
    Option{
        OptionId::to, "--to", "collapsed|speedscope|pprof|firefox",
        "collapsed: a line a call stack, for flame graphs. speedscope: JSON for "
        "www.speedscope.app. pprof: profile.proto, compressed by gzip, with all metrics. firefox: "
        "JSON for profiler.firefox.com, the events in time and by thread.",
        "a word; collapsed, speedscope, pprof and firefox are known", set_to},
    Option{OptionId::output, "--output", "FILE",
           "Write to a file that is made, or whose contents are replaced.", "the name of a file",
           set_output},
    Option{OptionId::here, "--here", "[N]",
           "The source around the line of the selected frame instead: N lines (5) before and "
           "behind.",
           "a number of lines", set_here, takes_number},
    Option{OptionId::at_row, "--break", "N",
           "Set a breakpoint at the function of row N, <Total> not counted, instead.",
           "the number of a row", set_row, takes_number},
    Option{OptionId::wait_for, "--waitfor", "",
           "Waits until a process of that name begins, and takes the first; Ctrl-C ends that.", "",
           set_wait_for, takes_nothing},
    Option{OptionId::live, "--live", "",
           "What is allocated now, or was when the recording ended, with its age.", "", set_live,
           takes_nothing},
    Option{OptionId::older_than, "--older-than", "TIME",
           "Likewise, but only what was allocated at least so long ago.", "a time such as 10s",
           set_older_than},
    Option{OptionId::address, "--address", "EXPRESSION",
           "The block that an address lies in instead: where and when it was allocated, and freed. "
           "In the debugger the selected frame's variables may stand in the expression.",
           "an address, or in the debugger an expression", set_address},
    Option{OptionId::by, "--by", "function|line|stack|thread",
           "What has a row: the functions that touch the object, or call the function (the "
           "default), their lines, call stacks, or threads.",
           "a word; function, line, stack and thread are known", set_by},
    Option{OptionId::read, "--read", "", "Reads of the object as well as writes.", "", set_read,
           takes_nothing},
    Option{OptionId::size, "--size", "N",
           "Only the first N bytes of the object: 1, 2, 4 or 8, which the processor can watch.",
           "a number of bytes", set_size},
    Option{OptionId::period, "--period", "N",
           "Record one in N with its call stack; all of them are counted. That saves samples, not "
           "the time that each holds its thread.",
           "a number", set_period},
    Option{OptionId::all_slots, "--all-slots", "",
           "Take a breakpoint register of the processor even if Gnomon has two, or LLDB's "
           "watchpoints will then find none.",
           "", set_all_slots, takes_nothing},
};

}  // namespace

std::span<const Option> option_table() { return kOptions; }

std::size_t length_of(const Option& option, std::span<const std::string> words) {
  const auto equals = words.front().find('=');
  const std::size_t names = equals == std::string::npos ? 1 : 0;
  const std::string first =
      names == 0 ? words.front().substr(equals + 1) : (words.size() > 1 ? words[1] : "");
  return std::clamp<std::size_t>(names + option.takes(first), 1, words.size());
}

}  // namespace gnomon::commands
