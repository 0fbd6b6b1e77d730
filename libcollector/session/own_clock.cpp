// The clock of this process's own threads: whether it is needed beside gnomon-sampler's, and for
// what. Normal context.
#include "libcollector/session/own_clock.h"

#include <cerrno>

#include "libcollector/core/atomic.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/program/profil.h"
#include "libcollector/program/sigaction.h"
#include "libcollector/target/confinement.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {
namespace {

using format::ClockSource;
using format::Setting;

bool take_signal(Loaded loaded) {
  // Alternate stacks from before the collector may be too small for any handler if none uses them.
  const bool usable = loaded == Loaded::at_start || handlers_on_alternate_stacks() != 0;
  if (!take_sigprof(collector_sigprof, usable)) {
    own_recorder->fail(format::Failure::no_clock, errno);
    return false;
  }
  if (let_profil_come_after()) return true;
  own_recorder->fail(format::Failure::profil, 0);
  give_sigprof_back(
      collector_sigprof, [](const void*) { return true; }, nullptr);
  return false;
}

// interval: 0: the clock is off.
bool arm_every(std::uint64_t interval, Timer timer, const OwnClock& clock, Loaded loaded) {
  format::SettingValues values = clock.settings;
  values[Setting::profile] = interval;
  prepare_clock(values, timer, clock.not_recording);
  return !has_clock() || take_signal(loaded);
}

bool arm_for_samples(const OwnClock& clock, Loaded loaded) {
  const std::uint64_t interval = clock.settings[Setting::profile];
  if (interval != 0)
    atomic(own_recorder->control()->clock).store(static_cast<std::uint32_t>(format::Clock::signal));
  return arm_every(interval, clock.timer, clock, loaded);
}

// Threads are sampled by these ticks if gnomon-sampler should not come.
bool arm_for_places(const OwnClock& clock, Loaded loaded) {
  const std::uint64_t interval = format::place_interval(clock.settings);
  if (!arm_every(interval, choose_timer(interval, is_confined()), clock, loaded)) return false;
  tell_kernel_places();
  return true;
}

}  // namespace

// Where the process is attached to, what the kernel can do is known beforehand.
bool arm_clock(const OwnClock& clock, Loaded loaded) {
  if (!format::may_be_kernels(clock.settings)) return arm_for_samples(clock, loaded);
  if (loaded == Loaded::at_start) return true;
  return format::source_in(clock.settings) == ClockSource::kernel
             ? arm_every(0, clock.timer, clock, loaded)
             : arm_for_places(clock, loaded);
}

bool arm_clock_after_hold(const OwnClock& clock) {
  if (!format::may_be_kernels(clock.settings)) return true;
  const auto taken = static_cast<format::Clock>(atomic(own_recorder->control()->clock).load());
  const bool shows_places = format::source_in(clock.settings) != ClockSource::kernel;
  if (taken == format::Clock::user && shows_places) return arm_for_places(clock, Loaded::at_start);
  if (format::is_from_outside(static_cast<std::uint32_t>(taken)))
    return arm_every(0, clock.timer, clock, Loaded::at_start);
  return arm_for_samples(clock, Loaded::at_start);
}

}  // namespace gnomon::collector
