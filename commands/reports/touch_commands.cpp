// Who touches an object, who calls a function. LLDB's command thread, or the shell's.
#include <fmt/format.h>

#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/traced/touch_report.h"

namespace gnomon::commands {
namespace {

Result<Answer> sentence(Result<std::string> said) {
  if (!said) return tl::unexpected(said.error());
  return Answer{std::move(*said), {}};
}

reader::TouchedBy listed_by(const Invocation& call) {
  if (call.by == "line") return reader::TouchedBy::line;
  if (call.by == "stack") return reader::TouchedBy::stack;
  return call.by == "thread" ? reader::TouchedBy::thread : reader::TouchedBy::function;
}

Result<Answer> run_watch(Host& host, const Invocation& call) {
  WatchRequest request = call.watch;
  request.expression = fmt::format("{}", fmt::join(call.arguments, " "));
  if (request.expression.empty())
    return fault("watch needs the object that is to be watched",
                 "name a variable, a member or *POINTER of the selected frame");
  return sentence(host.watch(request));
}

Result<Answer> run_unwatch(Host& host, const Invocation& call) {
  const auto number = call.arguments.empty() ? std::nullopt : whole_number(call.arguments.front());
  if (!number || *number == 0)
    return fault("unwatch needs the number of a watch",
                 "`collector accesses` and `collector calls` number them");
  return sentence(host.unwatch(static_cast<std::uint32_t>(*number)));
}

Result<Answer> run_accesses(Host& host, const Invocation& call) {
  return report_by(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::accesses_report(analysis, view, listed_by(call));
  });
}

Result<Answer> run_calls(Host& host, const Invocation& call) {
  if (!call.arguments.empty()) {
    WatchRequest request = call.watch;
    request.expression = call.arguments.front();
    request.is_call = true;
    return sentence(host.watch(request));
  }
  return report_by(host, call, [&](reader::Analysis& analysis, const reader::View& view) {
    return reader::calls_report(analysis, view, listed_by(call));
  });
}

constexpr Options kTouches = kListed | kEvents | OptionId::by;

constexpr std::array kTouchCommands{
    Command{
        "watch", "", "EXPRESSION", "Record who writes an object, without stopping.",
        "EXPRESSION names an object in the selected frame, such as total, node->next or *p. The "
        "processor watches it until `unwatch`, the end of the recording, or exec. Each write is "
        "counted and recorded with its thread and call stack. Nothing stops, and nothing of the "
        "program is changed. The command says how long a write holds its thread. The "
        "kernel's clock shows that time as <Watch>, the clock of signals in the function that "
        "writes. The place is watched, also when the object there is another one. A processor has "
        "four registers for this; Gnomon takes two of them and leaves the others to LLDB's "
        "watchpoints. The "
        "process is stopped meanwhile, and recorded. `accesses` shows what was seen.\n",
        OptionId::read | OptionId::size | OptionId::period | OptionId::all_slots, Role::control,
        kAnyNumber, run_watch},
    Command{"unwatch", "", "NUMBER", "Watch an object or a function no more.",
            "What was recorded stays.\n", kNoOptions, Role::control, 1, run_unwatch},
    Command{"accesses", "", "", "Who wrote the objects that `watch` is about.",
            "All writes are counted, also those of which a sample was lost (<Lost>). The metric is "
            "`accesses` in other reports, and --filter 'WATCH == 1' makes them be about one "
            "object.\n",
            kTouches, Role::report, 0, run_accesses},
    Command{"calls", "", "[FUNCTION]", "Who calls a function, without stopping.",
            "With FUNCTION, in LLDB while the process is stopped: records each call of it, as "
            "`watch` does accesses. A function that is inlined has no calls. A jump to its first "
            "instruction counts as a call. FUNCTION is a name "
            "or, where several have that, an address. Without it: what was recorded, by the "
            "callers. A call at which LLDB stops counts once. The metric is `calls`.\n",
            kTouches | OptionId::period | OptionId::all_slots, Role::report, 1, run_calls},
};

}  // namespace

std::span<const Command> touch_commands() { return kTouchCommands; }

}  // namespace gnomon::commands
