// Whose clock a recording gets, and why. Any thread.
#include "injector/base/clock_choice.h"

#include <fmt/format.h>

#include "injector/base/log.h"
#include "injector/base/recording.h"
#include "injector/base/sampler.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {

using format::ClockSource;
using format::Setting;

ClockChoice refused_clock(const Settings& settings, const std::string& why, OtherClock other) {
  if (settings.values[Setting::source] == static_cast<std::uint64_t>(ClockSource::automatic))
    return {"", why};
  return {fmt::format("The kernel cannot be the clock: {}; {}.\n", why,
                      other == OtherClock::signals ? "the program's own threads sample by signals"
                                                   : "the recording has no samples of the clock"),
          ""};
}

ClockChoice choose_clock(Settings& settings, pid_t pid) {
  if (!format::may_be_kernels(settings.values)) return {};
  const ClockSource wanted = format::source_in(settings.values);
  const auto answer = run_sampler(
      settings, {format::kProbe, std::to_string(pid), format::settings_text(settings.values).text});
  const bool is_user = answer && *answer == format::kUserTime;
  const bool is_refused = !answer || (!answer->empty() && !is_user);
  const ClockSource chosen = is_refused                                 ? ClockSource::signal
                             : is_user && wanted != ClockSource::kernel ? ClockSource::hybrid
                                                                        : ClockSource::kernel;
  settings.values[Setting::chosen_source] = static_cast<std::uint64_t>(chosen);
  if (!is_refused) return {};
  return refused_clock(settings, answer ? *answer : answer.error().what, OtherClock::signals);
}

void note_clock(const Settings& settings, pid_t pid, const std::string& reason) {
  if (reason.empty()) return;
  const Found found = find_experiment(settings.stem, settings.session, pid);
  if (found.page)
    static_cast<void>(write_log(found.experiment, *found.page, format::kLogClock, reason));
}

}  // namespace gnomon::injector
