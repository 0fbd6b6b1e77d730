// Traced: waiting by the futex system call. Normal context.
#include "libcollector/trace/futex.h"

#include <linux/futex.h>

#include <atomic>
#include <cerrno>

#include "libcollector/trace/waits.h"

namespace gnomon::collector {
namespace {

constinit std::atomic<AnySyscall> real_syscall = nullptr;

const void* address(unsigned long word) { return reinterpret_cast<const void*>(word); }

Outcome outcome_of(long result) {
  if (result == 0) return Outcome::granted;
  return errno == ETIMEDOUT || errno == EINTR ? Outcome::given_up : Outcome::refused;
}

long traced_wait_by_number(long number, unsigned long word, unsigned long operation,
                           unsigned long value, unsigned long timeout, unsigned long other,
                           unsigned long mask) {
  return traced_wait(
      GNOMON_OWN_CALL(), {format::WaitKind::futex, address(word), 0},
      [&] { return real_syscall.load()(number, word, operation, value, timeout, other, mask); },
      outcome_of);
}

}  // namespace

AnySyscall traced_futex(AnySyscall real, unsigned long word, unsigned long operation) {
  if (!traces_waits()) return nullptr;
  const unsigned long command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) note_release(address(word));
  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) return nullptr;
  real_syscall.store(real);
  return reinterpret_cast<AnySyscall>(reinterpret_cast<void*>(traced_wait_by_number));
}

}  // namespace gnomon::collector
