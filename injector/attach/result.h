// The result of an attach or a release, and its text. Any thread.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "injector/base/clock_choice.h"
#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct AttachResult {
  std::string experiment;
  std::uint32_t threads = 0, blocking = 0, refused = 0, unbound = 0;
  // Of a release: threads in the middle of traced calls, and their events that are not written out.
  std::uint32_t kept_threads = 0, kept_events = 0;
  std::string thread_maker;  // a library with a pthread_create of its own, or empty
  // What samples the process; off: samples of its use of the system alone are taken.
  enum class Clock { threads, kernel, hybrid, off };
  Clock clock = Clock::threads;
  std::string outside;  // why gnomon-sampler records it alone, a clause; empty: it does not
  std::string failed;   // what could not be done beside the recording, lines, or empty
  std::string runtime;  // what the program's runtime keeps a recording from showing, or empty
  double held_ms =
      0;  // how long the process, or only one thread at a time was stopped, was stopped
  bool others_ran = false;  // one thread at a time
  bool moved = false;       // the thread selected in the debugger has moved
  // Threads that have reached one of the user's stops meanwhile, such as "#2 (breakpoint 1.1)".
  std::vector<std::string> arrived;
};

// Starts gnomon-sampler for a recording that has begun in a process, and adds to the result which
// clock that has. choice: what choose_clock() said.
void follow_attached(const Settings& settings, pid_t pid, const ClockChoice& choice,
                     AttachResult& result);

// What becomes of a process that the collector cannot come into, because of `why`: recorded from
// outside, where that is not to pass and the settings allow it.
Result<AttachResult> or_from_outside(const Settings& settings, pid_t pid, const Fault& why);

// Returns lines for the user. A Fault also says what the failure means for the process.
Result<std::string> text_of(const Result<AttachResult>& result, pid_t pid);
// Returns a line that says what the collector still holds in a process whose recording has ended,
// or "".
std::string release_text(const Result<AttachResult>& result);

}  // namespace gnomon::injector
