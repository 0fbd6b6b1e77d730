// Calls that wait for another thread. In hooks: normal context, and signal handlers that wait all
// the same; no lock, no heap, no errno.
#pragma once
#include <cstdint>

#include "libcollector/core/atomic.h"
#include "libcollector/core/tsc_time.h"
#include "libcollector/format/events.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {

// What is waited for. holder: thread id of who has it, 0: not known.
struct Awaited {
  format::WaitKind kind;
  const void* object;
  std::uint32_t holder;
};

// ns; shorter waits are not recorded. 0: every call is, whether it waits or not.
inline constinit std::uint64_t wait_threshold = 0;
inline bool records_every_call() { return wait_threshold == 0; }

bool traces_waits();

// What one lock and unlock takes that nobody contends, ns. Normal context.
std::uint64_t uncontended_lock_time();

// Notes that the calling thread has let go of an object, or has woken those who wait for it.
void note_release(const void* object);
// Who did so last; 0: not known.
std::uint32_t releaser_of(const void* object);

// Publishes what the thread waits for, for a debugger (format::ThreadWait).
void publish_wait(const Awaited& awaited, std::uint64_t since);
void take_wait_back();
void record_wait(const Call& call, const Awaited& awaited, std::uint64_t since,
                 std::uint64_t until);

// How a wait ended: the object could not be waited for; it was granted; the time was over, or a
// signal came.
enum class Outcome : std::uint8_t { refused, granted, given_up };

// wait(): the call that waits; returns its result. outcome_of(result): Outcome, errno is as the
// call left it.
template <typename Wait, typename OutcomeOf>
auto traced_wait(const Call& call, Awaited awaited, Wait wait, OutcomeOf outcome_of) {
  const std::uint64_t since = time_before();
  publish_wait(awaited, since);
  const auto result = wait();
  const std::uint64_t until = time_after();
  take_wait_back();
  const Outcome outcome = outcome_of(result);
  if (outcome != Outcome::refused && until - since >= wait_threshold) {
    if (awaited.holder == 0 && outcome == Outcome::granted)
      awaited.holder = releaser_of(awaited.object);
    record_wait(call, awaited, since, until);
  }
  return result;
}

}  // namespace gnomon::collector
