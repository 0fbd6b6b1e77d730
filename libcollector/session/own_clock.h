// The clock of this process's own threads: whether it is needed beside gnomon-sampler's, and for
// what. Normal context.
#pragma once
#include "libcollector/clock/thread_clock.h"
#include "libcollector/format/settings.h"
#include "libcollector/objects/module_map.h"

namespace gnomon::collector {

struct OwnClock {
  const format::SettingValues& settings;
  NotRecording not_recording;
  Timer timer;
};

// Prepares the clock before the recording begins; if gnomon-sampler may still take the samples, for
// a program that is being launched, nothing of it. On failure returns false and stores the reason
// in the control page.
bool arm_clock(const OwnClock& clock, Loaded loaded);
// Likewise, once gnomon-sampler has taken over while a launched process was held, or has not.
bool arm_clock_after_hold(const OwnClock& clock);

}  // namespace gnomon::collector
