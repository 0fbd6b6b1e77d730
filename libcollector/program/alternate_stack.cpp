// Alternate signal stacks, by interposing sigaltstack. The collector does not sample a thread while
// its alternate stack is too small for a tick. If the stack has room for a tick, but perhaps not
// for a tick and a handler together, SIGPROF stays blocked while a handler runs there. Any context.
#include "libcollector/program/alternate_stack.h"

#include <signal.h>

#include "libcollector/clock/signal_frame.h"
#include "libcollector/clock/thread_clock.h"
#include "libcollector/clock/threads.h"
#include "libcollector/format/attach.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/handler_masks.h"
#include "libcollector/target/recording.h"
#include "libcollector/target/thread_slots.h"

namespace gnomon::collector {
namespace {

using Change = int (*)(const stack_t*, stack_t*);
constinit NextSymbol<Change> real_sigaltstack{"sigaltstack", "GLIBC_2.2.5"};
constinit std::uint64_t needed = 0;

bool is_smaller(const stack_t& stack, std::uint64_t bytes) {
  return !(stack.ss_flags & SS_DISABLE) && stack.ss_size < bytes;
}

}  // namespace

void measure_ticks() { needed = tick_stack_bytes(); }

extern "C" {

// The clock is stopped before the kernel gets a small stack, because a tick there would end the
// program.
__attribute__((visibility("default"), symver("sigaltstack@@GLIBC_2.2.5"))) int gnomon_sigaltstack(
    const stack_t* fresh, stack_t* old) {
  Thread* thread = calling_thread();
  Recorder* recorder = thread && fresh ? active_recorder() : nullptr;
  if (!recorder) return real_sigaltstack(fresh, old);
  const bool was_ticking = thread->ticking;
  const bool small = is_smaller(*fresh, needed);
  if (is_smaller(*fresh, format::kRoomForHandlers) && !are_ticks_kept_off())
    keep_ticks_off_alternate_stacks();
  if (small) stop_clock(*thread);
  const int result = real_sigaltstack(fresh, old);
  if (result == 0 && small && was_ticking) recorder->drop(format::Drop::small_alternate_stack);
  if (thread->ticking == 0 && (result == 0 ? !small : was_ticking)) start_clock(*thread);
  return result;
}
}

namespace {

GNOMON_HOOK(gnomon_sigaltstack, real_sigaltstack);

}  // namespace

}  // namespace gnomon::collector
