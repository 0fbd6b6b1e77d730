// Reports of I/O. LLDB's command thread, or the shell's.
#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/traced/io_reports.h"

namespace gnomon::commands {
namespace {

template <bool ByDescriptor>
Result<Answer> run_files(Host& host, const Invocation& call) {
  return report_by(host, call, [](reader::Analysis& analysis, const reader::View& view) {
    return reader::io_files_report(analysis, view, ByDescriptor);
  });
}

template <auto Report>
Result<Answer> run_io(Host& host, const Invocation& call) {
  return report_by(host, call, Report);
}

constexpr std::array kIo{
    Command{"ioactivity", "", "", "I/O by file.",
            "What was recorded with `iotrace on`, or `gnomon collect -i on`: bytes, calls and time "
            "of reading, writing and the rest, and calls that failed, by name of file; a socket is "
            "named by its peer. Calls of stdio count as far as they did I/O; what it writes when "
            "the program ends is not seen. Waits: poll, select, epoll_wait, connect, accept. What "
            "took longest comes first. In reports of functions and lines the metrics are "
            "ioreadbytes, ioreadcnt, ioreadtime, iowrite..., ioothercnt, ioothertime, iowaitcnt, "
            "iowaittime, ioerrorcnt and ioerrortime.\n",
            kListed | kEvents, Role::report, 0, run_files<false>},
    Command{"iodetail", "", "", "I/O by descriptor.",
            "As `ioactivity`, with a row for each time that a file was opened.\n",
            kListed | kEvents, Role::report, 0, run_files<true>},
    Command{"iocallstack", "", "", "I/O by call stack.",
            "As `ioactivity`, by call stack. Call stacks that pass the same lines are one.\n",
            kListed | kEvents, Role::report, 0, run_io<reader::io_stacks_report>},
    Command{"iostat", "", "", "Statistics of I/O.",
            "Calls, bytes and time of each operation; why calls failed; how much was read and "
            "written at a time.\n",
            kListed | kEvents, Role::report, 0, run_io<reader::io_statistics_report>},
};

}  // namespace

std::span<const Command> io_commands() { return kIo; }

}  // namespace gnomon::commands
