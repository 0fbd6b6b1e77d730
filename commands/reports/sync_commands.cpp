// Reports of waits for other threads. LLDB's command thread, or the shell's.
#include <array>

#include "commands/reports/report_call.h"
#include "reader/report/traced/sync_reports.h"

namespace gnomon::commands {
namespace {

template <auto Report>
Result<Answer> run_waits(Host& host, const Invocation& call) {
  return report_by(host, call, Report);
}

constexpr std::array kSyncReports{
    Command{"sync", "", "", "Waits for other threads, by what was waited for.",
            "What was recorded with `synctrace on`, or `gnomon collect -s on`: how often and how "
            "long threads waited for a lock, a condition, a barrier, a semaphore, or the end of "
            "another thread, and in which lines. CPU idle, with the kernel's clock: the share of "
            "that time in which the process used fewer CPUs than it had, so that the wait may have "
            "cost time. In reports of functions and lines the metrics are sync and syncn.\n",
            kListed | kEvents, Role::report, 0, run_waits<reader::sync_report>},
    Command{"blockers", "", "", "What held others up, by the call stack of those who waited.",
            "A wait is charged to what the thread did meanwhile that held the lock, or that woke "
            "the waiter: to the call stacks of its clock samples, and where it waited itself, to "
            "what it waited for in its turn. The shares of a call stack add up to its waits. Who "
            "holds a semaphore or a lock for reading is not known.\n",
            kListed | kEvents, Role::report, 0, run_waits<reader::blockers_report>},
};

}  // namespace

std::span<const Command> sync_commands() { return kSyncReports; }

}  // namespace gnomon::commands
