// Watches a target's launches and answers the collector of each. On a thread of its own.
#include "injector/launch/launch_watch.h"

#include "injector/base/outside.h"
#include "injector/base/presence.h"
#include "injector/base/sampler.h"
#include "injector/files/preflight.h"
#include "injector/launch/follow_launch.h"

namespace gnomon::injector {
namespace {

constexpr std::uint32_t kBell = 1;

}  // namespace

Watch::Watch(lldb::SBDebugger debugger, lldb::SBTarget target, Settings settings,
             std::string executable)
    : debugger_(debugger),
      target_(target),
      settings_(std::move(settings)),
      executable_(std::move(executable)),
      events_("gnomon.launches"),
      bell_("gnomon.bell") {
  bell_.AddListener(events_, kBell);
  // The first news of a launch: the program itself is mapped, its loader has not run.
  target_.GetBroadcaster().AddListener(events_, lldb::SBTarget::eBroadcastBitModulesLoaded);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Watch::~Watch() {
  thread_.request_stop();
  bell_.BroadcastEventByType(kBell);
}

void Watch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    lldb::SBEvent event;
    if (!events_.WaitForEvent(UINT32_MAX, event) || stop.stop_requested()) continue;
    lldb::SBProcess process = target_.GetProcess();
    const auto pid = static_cast<pid_t>(process.GetProcessID());
    if (pid <= 0 || process.GetUniqueID() == judged_ || !was_launched(pid)) continue;
    judge(process.GetUniqueID(), pid, stop);
  }
}

void Watch::judge(std::uint32_t process, pid_t pid, const std::stop_token& stop) {
  const std::optional<Fault> found = fault_of(pid, stop);
  {
    const std::lock_guard lock(mutex_);
    judged_ = process;
    verdict_ = found;
  }
  if (!found || stop.stop_requested()) return;
  warn("process " + std::to_string(pid) + " is not recorded: " + sentence(*found) + "\n");
}

void Watch::warn(const std::string& what) {
  const std::string text = "warning: " + what;
  lldb::SBFile output = debugger_.GetErrorFile();
  std::size_t written = 0;
  output.Write(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), &written);
  output.Flush();
}

// The file may be another one than when the collector was enabled.
std::optional<Fault> Watch::fault_of(pid_t pid, const std::stop_token& stop) {
  if (auto kind = check_kind(executable_); !kind) return fault_from_outside(pid, kind.error());
  if (auto fit = check_program(executable_); !fit) return fit.error();
  return follow_launch({settings_, executable_, pid},
                       {{},
                        [this, pid](const std::string& why) { warn(not_yet(pid, why) + "\n"); },
                        [this](const std::string& lines) { warn(lines); }},
                       stop);
}

std::optional<Fault> Watch::fault_from_outside(pid_t pid, const Fault& obstacle) {
  if (!is_native(executable_) || !may_record_from_outside(settings_)) return obstacle;
  const auto experiment = record_from_outside(settings_, program_of(pid), obstacle);
  if (!experiment) return experiment.error();
  if (const std::string failed = note_experiment(settings_, *experiment); !failed.empty())
    warn(failed);
  return std::nullopt;
}

std::optional<Fault> Watch::verdict(lldb::SBProcess process) {
  const std::lock_guard lock(mutex_);
  return process.GetUniqueID() == judged_ ? verdict_ : std::nullopt;
}

}  // namespace gnomon::injector
