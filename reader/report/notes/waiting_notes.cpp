// What is not known of the time that threads spent off a CPU. Any thread.
#include "reader/report/notes/waiting_notes.h"

#include <fmt/format.h>

#include "libcollector/format/control.h"

namespace gnomon::reader {

bool is_of_waiting(MetricId metric) { return metric >= kWaitCpu && metric <= kTotalThread; }

namespace {

std::uint64_t time_of_waiting(const Profile& profile) {
  for (std::uint32_t i = 0; i < profile.functions(); ++i)
    if (profile.function(FunctionId{i}).name == kWaiting)
      return profile.value(Flavour::exclusive, kTotalThread, FunctionId{i});
  return 0;
}

// Why call stacks are missing, from the first part that tells.
std::string cause_of(const Analysis& analysis) {
  for (const auto& part : analysis.parts()) {
    const format::ControlPage& control = part->experiment().control;
    if (const auto& [time, why] = part->instants().log.end_of_switches(); time != 0)
      return fmt::format(
          "the kernel's records of switches between threads were given up after {:.3f} s, as {}",
          seconds(Nanoseconds{time - std::min(time, control.start_time)}), why);
    if (control.clock != static_cast<std::uint32_t>(format::Clock::user)) continue;
    const Header& header = part->experiment().header;
    const bool has_more = header.settings[format::Setting::waits] == 0 && header.outside.empty();
    return fmt::format(
        "with kernel.perf_event_paranoid 1 or CAP_PERFMON the kernel shows both{}",
        has_more ? ", with `profile waits on` (-w on) the program's own long calls" : "");
  }
  return "the kernel showed neither";
}

}  // namespace

std::string waiting_note(const Analysis& analysis, const Profile& profile) {
  constexpr std::uint64_t kWorthANote = 100;  // one part in so many
  const std::uint64_t waiting = time_of_waiting(profile);
  if (waiting == 0 || waiting < profile.values(kTotalThread).total / kWorthANote) return "";
  return fmt::format("{:.3f} s of waiting have no call stack and no reason (<Waiting>): {}.",
                     seconds(Nanoseconds{waiting}), cause_of(analysis));
}

}  // namespace gnomon::reader
