// Whose clock a recording gets, and why. Any thread.
#pragma once
#include <sys/types.h>

#include <string>

#include "injector/base/settings.h"

namespace gnomon::injector {

struct ClockChoice {
  std::string said;    // a line for the user: what was asked for cannot be; may be empty
  std::string reason;  // why signals sample, in a clause, where nobody has asked; may be empty
};

// Says what the settings' source of the clock comes to in that process, which is to be attached to,
// and sets chosen_source.
ClockChoice choose_clock(Settings& settings, pid_t pid);

// What samples a process if the kernel refuses that: nothing, or signals.
enum class OtherClock { none, signals };
// The same of a recording that gnomon-sampler has come too late to, or was refused. why: a clause.
ClockChoice refused_clock(const Settings& settings, const std::string& why, OtherClock other);

// Notes in the log of the process's experiment why the kernel is not the clock. Without it the
// experiment lacks that sentence alone.
void note_clock(const Settings& settings, pid_t pid, const std::string& reason);

}  // namespace gnomon::injector
