// Commands for the place where a debugger has stopped the program, and reports that know of it.
// LLDB's command thread; `note-stop`: the thread that handles a debugger's events.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/asked/report.h"
#include "reader/report/stop/stop_reports.h"

namespace gnomon::commands {
namespace {

Result<Answer> run_where(Host& host, const Invocation& call) {
  const auto backtrace = host.backtrace();
  if (!backtrace) return tl::unexpected(backtrace.error());
  return report_by(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::where_report(analysis, view, *backtrace);
  });
}

// Of the time since the stop before; none: there is none.
std::optional<reader::Recent> recent_of(Host& host, const Invocation& call) {
  using Kind = reader::SpanChoice::Kind;
  if (call.span.kind != Kind::whole) return std::nullopt;
  Invocation since = call;
  since.span = {Kind::since_stop, "", "", 0};
  const auto analysis = analysis_of(host, since);
  if (!analysis) return std::nullopt;
  const auto recent = reader::recent_values(**analysis, view_of(host, call));
  return recent ? std::optional(*recent) : std::nullopt;
}

Result<Answer> run_hot(Host& host, const Invocation& call) {
  constexpr std::size_t kUsual = 10;
  const auto recent = recent_of(host, call);
  return report_by(host, call, [&](reader::Analysis& analysis, reader::View view) {
    view.limit = call.limit.value_or(kUsual);
    return reader::hot_report(analysis, view, recent);
  });
}

// What the selected frame shows is inlined: so are its lines.
Result<Answer> lines_here(Host& host, const Invocation& call) {
  const auto backtrace = host.backtrace();
  if (!backtrace) return tl::unexpected(backtrace.error());
  const bool is_inlined = std::any_of(
      backtrace->begin(), backtrace->end(),
      [](const reader::BacktraceFrame& frame) { return frame.is_selected && frame.is_inlined; });
  reader::ProfileStyle& style = host.choice().view.style;
  const bool before = std::exchange(style.inlines, style.inlines || is_inlined);
  auto answer = report_by(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::around_report(analysis, view, *backtrace, *call.here);
  });
  style.inlines = before;
  return answer;
}

Result<Answer> run_lines(Host& host, const Invocation& call) {
  return call.here ? lines_here(host, call) : report_list(host, call, reader::lines_report);
}

// `functions --break N` or `functions N --break`.
Result<Answer> break_at(Host& host, Invocation call) {
  std::size_t row = *call.row;
  if (row == 0 && !call.experiments.empty()) {
    row = whole_number(call.experiments.front()).value_or(0);
    call.experiments.erase(call.experiments.begin());
  }
  if (row == 0)
    return fault("no row is named", "`functions --break 1` is about the first below <Total>");
  const auto analysis = analysis_of(host, call);
  if (!analysis) return tl::unexpected(analysis.error());
  const auto function = reader::function_of_row(**analysis, view_of(host, call), row);
  if (!function) return tl::unexpected(function.error());
  if (function->object.empty())
    return fault(fmt::format("row {}, {}, is no function of a file", row, function->name),
                 "choose another row");
  auto set = host.set_breakpoint(*function);
  if (!set) return tl::unexpected(set.error());
  return Answer{std::move(*set), {}};
}

Result<Answer> run_blocked(Host& host, const Invocation& call) {
  const auto blocked = host.blocked();
  if (!blocked) return tl::unexpected(blocked.error());
  return render(host, call, blocked_table(*blocked));
}

Result<Answer> run_functions(Host& host, const Invocation& call) {
  return call.row ? break_at(host, call) : report_list(host, call, reader::functions_report);
}

Result<Answer> run_note_stop(Host& host, const Invocation&) {
  auto noted = host.note_stop();
  if (!noted) return tl::unexpected(noted.error());
  return Answer{std::move(*noted), {}};
}

Result<Answer> run_stop_line(Host& host, const Invocation& call) {
  const auto is_on = host.has_stop_line();
  if (!is_on) return tl::unexpected(is_on.error());
  if (call.arguments.empty())
    return Answer{fmt::format("stop-line is {}.\n", *is_on ? "on" : "off"), {}};
  const std::string& word = call.arguments.front();
  if (word == "last" && *is_on) return Answer{host.last_stop_line(), {}};
  if (word == "last") return fault("stop-line is off", "`stop-line on` prints one at each stop");
  if (word != "on" && word != "off")
    return fault(fmt::format("stop-line {} is unknown", word), "on, off and last are known");
  if (auto set = host.set_stop_line(word == "on"); !set) return tl::unexpected(set.error());
  return Answer{};
}

constexpr std::array kStops{
    Command{
        "functions", "", "", "Exclusive and inclusive metrics of functions.",
        "Exclusive: what the function itself used. Inclusive: what it and all it called used, "
        "counted once however often the function recurs on a call stack.\n\nThe clock of a thread "
        "counts what the kernel does for the thread as well: that time belongs to the function "
        "that called the kernel.\n",
        kAll | OptionId::at_row, Role::report, 0, run_functions},
    Command{"lines", "", "", "Exclusive and inclusive metrics of source lines.",
            "A line within a function; what was inlined there counts for the line of the call. "
            "Copies that a compiler has made of one function are one. Code that was compiled "
            "without -g stands under its function.\n",
            kAll | OptionId::here, Role::report, 0, run_lines},
    Command{"hot", "", "", "The ten functions that were hottest since the last stop.",
            "By exclusive values of the first metric that reports show. Since stop: as `--since "
            "stop` has it. Where there was no stop before, the order is that of the whole "
            "recording. --limit N shows more.\n",
            kListed | kEvents | OptionId::metrics, Role::report, 0, run_hot},
    Command{
        "where", "", "", "The call stack at the stop, with metrics of its functions.",
        "Of the selected thread, by the first metric that reports show. Excl. and Incl.: of the "
        "frame's function, wherever it was called from. Attr.: of its calls from the function of "
        "the frame below. Path: of exactly this call path, with its share of everything.\n",
        kListed | kEvents | OptionId::metrics, Role::report, 0, run_where},
    Command{"blocked", "", "", "What each thread waits for at the stop, and deadlocks.",
            "Of every thread that the kernel, or a spin lock, keeps waiting: the lock, condition, "
            "barrier, semaphore or thread that it waits for, or the function that has called the "
            "kernel; who holds a lock; and the place in the program's own code. Threads that wait "
            "for each other in a circle are a deadlock, which is said above the table. It works "
            "without a recording; what the program was recorded with `synctrace on` for is Since: "
            "how long ago the wait began, and the names of semaphores and conditions.\n"
            "In the shell `gnomon blocked -P PID` tells it of a running process, whose threads it "
            "does not stop. A thread that goes on meanwhile is left out.\n",
            kShown, Role::control, 0, run_blocked},
    Command{
        "stop-line", "", "[on|off|last]",
        "Print a line at each stop: what the time before it cost.",
        "The time since the process ran on (`step`, `next` and `finish` count as well), its CPU "
        "time, that of the selected thread, and what was recorded: samples, and as far as they are "
        "traced allocations, waits for other threads and I/O. The time in which "
        "the process was stopped does not count. Stepping has LLDB stop the process more often "
        "than you see: that is in the time, CPU time says what the lines cost. <= stands before a "
        "time that begins at the last stop, as it is not known when the process ran on: commands "
        "tell, the buttons of an IDE do not. last: the line of the last stop, for lldb-dap, which "
        "does not show what stop hooks print: put `collector stop-line last` among its "
        "stopCommands.\n",
        kNoOptions, Role::control, 1, run_stop_line},
    Command{"note-stop", "", "", "Note that the program has stopped; a stop hook does so.",
            "`collector enable` gives the target this stop hook, and `collector disable` takes it "
            "away: what `--since stop` is about are the stops that it noted. It prints what "
            "`stop-line` asks for.\n",
            kNoOptions, Role::control, 0, run_note_stop},
};

}  // namespace

std::span<const Command> stop_commands() { return kStops; }

}  // namespace gnomon::commands
