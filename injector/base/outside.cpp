// Recording a program that the collector cannot come into: gnomon-sampler does it alone, from
// outside. Any thread; stops nothing.
#include "injector/base/outside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "injector/attach/remote/remote_process.h"
#include "injector/base/recording.h"
#include "injector/base/sampler.h"
#include "injector/files/preflight.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

using format::Setting;

bool is_confined(pid_t pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  return std::any_of(threads.begin(), threads.end(), [pid](pid_t thread) {
    const std::string status = proc_text(pid, "task/" + std::to_string(thread) + "/status");
    return number_in(status, "Seccomp").value_or(0) != 0;
  });
}

Fault neither(const Fault& obstacle, const std::string& why) {
  return {fmt::format("{}; nor can it be recorded from outside: {}", obstacle.what, why),
          obstacle.next};
}

}  // namespace

bool may_record_from_outside(const Settings& settings) {
  const format::SettingValues& values = settings.values;
  return values[Setting::source] != static_cast<std::uint64_t>(format::ClockSource::signal) &&
         (values[Setting::profile] != 0 || !settings.counters.empty()) &&
         values[Setting::pause_signal] == 0 && values[Setting::sample_signal] == 0;
}

Fault no_way_in(const Settings& settings, const Fault& obstacle) {
  const format::SettingValues& values = settings.values;
  if (values[Setting::profile] == 0 && settings.counters.empty())
    return {obstacle.what, "with the clock on it is recorded from outside"};
  if (values[Setting::pause_signal] != 0 || values[Setting::sample_signal] != 0)
    return {obstacle.what, "without -y and -l it is recorded from outside"};
  return obstacle;
}

bool has_lasting_obstacle(pid_t pid) {
  const std::string executable = fmt::format("/proc/{}/exe", pid);
  if (!is_native(executable)) return false;
  const auto is_elsewhere = [pid](const char* space) {
    return proc_link(pid, space) != proc_link(getpid(), space);
  };
  return !check_kind(executable) || is_confined(pid) || is_elsewhere("ns/mnt") ||
         is_elsewhere("ns/pid");
}

OutsideProgram program_of(pid_t pid) {
  OutsideProgram program{pid, proc_link(pid, "exe"), {}};
  const std::string line = proc_text(pid, "cmdline");
  for (std::size_t at = 0; at < line.size(); at += std::strlen(line.c_str() + at) + 1)
    program.words.emplace_back(line.c_str() + at);
  return program;
}

Result<std::string> record_from_outside(const Settings& settings, const OutsideProgram& program,
                                        const Fault& obstacle) {
  if (const auto recording = open_recording_in(program.pid); recording && !program.is_to_execute)
    return fault("it is recorded already, to " + recording->experiment,
                 fmt::format("`gnomon collect -P {} -e` ends that", program.pid));
  std::vector<std::string> words{format::kAlone,
                                 std::to_string(program.pid),
                                 fmt::format("{:x}", settings.session),
                                 format::settings_text(settings.values).text,
                                 settings.stem,
                                 obstacle.what,
                                 program.is_to_execute ? "1" : "0",
                                 program.executable,
                                 settings.counters};
  words.insert(words.end(), program.words.begin(), program.words.end());
  auto answer = run_sampler(settings, std::move(words));
  if (!answer) return tl::unexpected(neither(obstacle, answer.error().what));
  if (!answer->starts_with('/')) return tl::unexpected(neither(obstacle, *answer));
  return answer;
}

}  // namespace gnomon::injector
