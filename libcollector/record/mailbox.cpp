// Asking gnomon-sampler for a sample from within the recorded program, and pausing. Any context,
// signal handlers too.
#include "libcollector/record/mailbox.h"

#include <linux/futex.h>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

constexpr auto word(format::Ask ask) { return static_cast<std::uint32_t>(ask); }

}  // namespace

bool post_sample(format::ControlPage& page, format::SampleEvent event) {
  format::Mailbox& box = page.mailbox;
  std::uint32_t number = atomic(box.sequence).load();
  if (number % 2 != 0 || atomic(box.answered).load() != number) return false;
  if (!atomic(box.sequence).compare_exchange_strong(number, number + 1)) return false;
  box.verb = static_cast<std::uint32_t>(format::Verb::sample);
  box.event = static_cast<std::uint32_t>(event);
  box.label[0] = 0;
  atomic(box.sequence).store(number + 2);
  raw_syscall(SYS_futex, arg(&box.sequence), FUTEX_WAKE, 1'000'000, 0);
  return true;
}

std::uint32_t take_request(format::Mailbox& box, std::uint32_t seen, format::Mailbox& request) {
  const std::uint32_t number = atomic(box.sequence).load(std::memory_order_acquire);
  if (number == seen || number % 2 != 0) return 0;
  __builtin_memcpy(&request, &box, sizeof request);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (atomic(box.sequence).load() != number) return 0;
  request.label[sizeof request.label - 1] = 0;
  return number;
}

// A pause that somebody asks for during the delay outlasts it.
bool pause(format::ControlPage& page, format::PauseReason reason) {
  auto during_delay = static_cast<std::uint32_t>(format::PauseReason::delay);
  if (reason == format::PauseReason::asked)
    atomic(page.pause_reason)
        .compare_exchange_strong(during_delay, static_cast<std::uint32_t>(reason));
  for (std::uint32_t was = atomic(page.asked).load();;) {
    if (was == word(format::Ask::pause) || was == word(format::Ask::end)) return false;
    atomic(page.pause_reason).store(static_cast<std::uint32_t>(reason));
    if (atomic(page.asked).compare_exchange_strong(was, word(format::Ask::pause))) return true;
  }
}

bool resume(format::ControlPage& page) {
  constexpr auto kForGood = static_cast<std::uint32_t>(format::PauseReason::size_limit);
  if (atomic(page.pause_reason).load() == kForGood) return false;
  std::uint32_t was = word(format::Ask::pause);
  return atomic(page.asked).compare_exchange_strong(was, word(format::Ask::record));
}

}  // namespace gnomon::collector
