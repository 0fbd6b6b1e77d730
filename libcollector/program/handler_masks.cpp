// Keeps ticks off the program's handlers that run on an alternate stack. Any context.
#include "libcollector/program/handler_masks.h"

#include <atomic>

#include "libcollector/core/signal_action.h"

namespace gnomon::collector {
namespace {

constexpr int kSignals = 64;
constexpr std::uint64_t kSigprof = signal_bit(SIGPROF);

constinit std::atomic<bool> keeping = false;
constinit std::atomic<std::uint64_t> signals =
    0;  // signals whose handlers run on an alternate stack
constinit std::atomic<std::uint64_t> added =
    0;  // signals to whose handlers' masks SIGPROF was added

bool on_alternate(const KernelAction& action) {
  constexpr std::uint64_t kIgnored = 1;
  return action.handler > kIgnored && action.flags & SA_ONSTACK;
}

KernelAction extended(KernelAction action) {
  if (on_alternate(action)) action.mask |= kSigprof;
  return action;
}

KernelAction restored(KernelAction action) {
  action.mask &= ~kSigprof;
  return action;
}

// Replaces a signal's action by changed(action). If the program sets another one meanwhile, that
// one stays: the kernel's answer tells. Returns true if the handler runs on an alternate stack.
bool change(int signal, KernelAction (*changed)(KernelAction)) {
  KernelAction theirs = kernel_action(signal), installed = theirs;
  for (int tries = 8; tries > 0; --tries) {
    const KernelAction wanted = changed(theirs);
    if (wanted == installed) break;
    if (wanted.mask & ~theirs.mask) added.fetch_or(signal_bit(signal));
    const KernelAction was = exchange_kernel_action(signal, wanted);
    if (was == installed) break;
    installed = wanted;
    theirs = was;
  }
  return on_alternate(theirs);
}

}  // namespace

void keep_ticks_off_alternate_stacks() {
  keeping = true;
  std::uint64_t found = 0;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (signal != SIGPROF && change(signal, extended)) found |= signal_bit(signal);
  signals = found;
}

std::uint64_t handlers_for_ticks_to_keep_off() {
  std::uint64_t found = 0;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (const KernelAction theirs = kernel_action(signal);
        signal != SIGPROF && !(extended(theirs) == theirs))
      found |= signal_bit(signal);
  return found;
}

void restore_handler_masks() {
  keeping = false;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (added & signal_bit(signal)) change(signal, restored);
  added = 0;
}

bool are_ticks_kept_off() { return keeping; }

std::uint64_t handlers_on_alternate_stacks() { return signals; }

std::uint64_t added_masks() { return added; }

const struct sigaction* kernel_view(int signal, const struct sigaction* fresh,
                                    struct sigaction& extended) {
  if (!fresh || !keeping || signal < 1 || signal > kSignals) return fresh;
  const bool wanted = fresh->sa_flags & SA_ONSTACK && fresh->sa_handler != SIG_DFL &&
                      fresh->sa_handler != SIG_IGN && sigismember(&fresh->sa_mask, SIGPROF) == 0;
  if (!wanted) {
    added.fetch_and(~signal_bit(signal));
    return fresh;
  }
  added.fetch_or(signal_bit(signal));
  extended = *fresh;
  sigaddset(&extended.sa_mask, SIGPROF);
  return &extended;
}

void program_view(int signal, std::uint64_t added, struct sigaction* old) {
  if (old && signal >= 1 && signal <= kSignals && added & signal_bit(signal))
    sigdelset(&old->sa_mask, SIGPROF);
}

}  // namespace gnomon::collector
