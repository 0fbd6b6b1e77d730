// Tells whether a tick could reach a thread. On the attach's helper thread; others run.
#include "libcollector/attach/task_masks.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/target/confinement.h"

namespace gnomon::collector {
namespace {

// Returns true if the signal set at this address, of a thread in rt_sigtimedwait(2), contains
// SIGPROF.
bool awaits_sigprof(std::uint64_t set_address) {
  if (is_confined()) return true;
  std::uint64_t set = 0;
  const iovec here{&set, sizeof set}, there{reinterpret_cast<void*>(set_address), sizeof set};
  const long read = raw_syscall(SYS_process_vm_readv, gettid(), arg(&here), 1, arg(&there), 1, 0);
  return read != sizeof set || set & signal_bit(SIGPROF);
}

}  // namespace

const ProcStatus* status_of(std::uint32_t tid) {
  static ProcStatus status;
  return status.read(tid) ? &status : nullptr;
}

std::uint64_t blocked_by(std::uint32_t tid) {
  const ProcStatus* status = status_of(tid);
  return status ? status->blocked() : 0;
}

// A pending tick could be seen by a wait for signals that has begun before the collector came, by
// signalfd(2) and by sigpending(2). Such a wait removes the awaited signals from the mask.
MaskLook mask_of(std::uint32_t tid) {
  const clockid_t clock = cpu_clock_of(tid);
  const std::uint64_t before = now(clock);
  std::uint64_t mask = blocked_by(tid);
  if (mask & signal_bit(SIGPROF)) return {Sigprof::blocked, mask};
  const SystemCall call = system_call_of(tid);
  if (call.number == kUnknownCall) return {Sigprof::unsure, mask};
  if (call.number == SYS_rt_sigtimedwait && awaits_sigprof(call.first))
    return {Sigprof::blocked, mask};
  // The first look may have been at the end of such a wait, unless the thread has not run since.
  if (before == 0 || now(clock) != before) mask = blocked_by(tid);
  return {mask & signal_bit(SIGPROF) ? Sigprof::blocked : Sigprof::unblocked, mask};
}

bool may_need_clock(std::uint32_t tid) {
  const ProcStatus* status = status_of(tid);
  const char* name = status ? status->find("Name") : nullptr;
  const std::size_t length = std::strlen(format::kFilesThread);
  return name && !(std::strncmp(name, format::kFilesThread, length) == 0 && name[length] == '\n');
}

bool may_be_waiting(std::uint32_t tid, MaskLooks& looks) {
  while (!looks.are_enough()) {
    const ProcStatus* status = status_of(tid);
    if (!status || status->blocked() & signal_bit(SIGPROF)) {
      looks = {};
      return true;
    }
    if (!looks.add(status->waits(), now(cpu_clock_of(tid)))) return true;
  }
  return false;
}

}  // namespace gnomon::collector
