// Alternate signal stacks: a thread whose own is too small for a tick is not sampled while it has
// it. Interposed: sigaltstack. Any context.
#include "libcollector/control/alternate_stack.h"

#include <signal.h>

#include "libcollector/clock/signal_frame.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/control/next_symbol.h"
#include "libcollector/control/session.h"
#include "libcollector/core/threads.h"

namespace gnomon::collector {
namespace {

using Change = int (*)(const stack_t*, stack_t*);
constinit NextSymbol<Change> real_sigaltstack{"sigaltstack", "GLIBC_2.2.5"};
constinit std::uint64_t needed = 0;

bool too_small(const stack_t& stack) {
  return !(stack.ss_flags & SS_DISABLE) && stack.ss_size < needed;
}

}  // namespace

void find_stack_functions() {
  real_sigaltstack.get();
  needed = tick_stack_bytes();
}

extern "C" {

// The clock stops before the kernel learns of a small stack: a tick there would end the program.
__attribute__((visibility("default"), symver("sigaltstack@@GLIBC_2.2.5"))) int gnomon_sigaltstack(
    const stack_t* fresh, stack_t* old) {
  Thread* thread = current_thread;
  Recorder* recorder = thread && fresh ? active_recorder() : nullptr;
  if (!recorder) return real_sigaltstack(fresh, old);
  const bool was_ticking = thread->ticking;
  const bool small = too_small(*fresh);
  if (small) stop_clock(*thread);
  const int result = real_sigaltstack(fresh, old);
  if (result == 0 && small && was_ticking) recorder->drop(format::Drop::small_alternate_stack);
  if (thread->ticking == 0 && (result == 0 ? !small : was_ticking)) start_clock(*thread);
  return result;
}
}

}  // namespace gnomon::collector
