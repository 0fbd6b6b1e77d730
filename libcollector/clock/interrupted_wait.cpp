// Restarts a wait that a tick has interrupted. In the handler of SIGPROF.
#include "libcollector/clock/interrupted_wait.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "libcollector/clock/program_action.h"
#include "libcollector/core/readable.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"

namespace gnomon::collector {
namespace {

// System calls that the kernel never restarts, or not always, after a handler (signal(7)). When
// they fail with EINTR they have done nothing yet.
struct Wait {
  int number;
  bool has_own_mask;  // the call unblocks other signals while it waits
};
constexpr Wait kWaits[] = {
    {SYS_poll, false},           {SYS_ppoll, true},         {SYS_select, false},
    {SYS_pselect6, true},        {SYS_epoll_wait, false},   {SYS_epoll_pwait, true},
    {SYS_epoll_pwait2, true},    {SYS_pause, false},        {SYS_rt_sigsuspend, true},
    {SYS_rt_sigtimedwait, true}, {SYS_nanosleep, false},    {SYS_clock_nanosleep, false},
    {SYS_semop, false},          {SYS_semtimedop, false},   {SYS_msgrcv, false},
    {SYS_msgsnd, false},         {SYS_io_getevents, false}, {SYS_futex, false},
    {SYS_accept, false},         {SYS_accept4, false},      {SYS_recvfrom, false},
    {SYS_recvmsg, false},        {SYS_sendto, false},       {SYS_sendmsg, false}};

// System calls that the kernel restarts after a handler with SA_RESTART, and only then (signal(7)).
constexpr int kRestarted[] = {
    SYS_read,      SYS_readv,   SYS_preadv,       SYS_write,          SYS_writev, SYS_pwritev,
    SYS_ioctl,     SYS_open,    SYS_openat,       SYS_creat,          SYS_wait4,  SYS_waitid,
    SYS_connect,   SYS_accept,  SYS_accept4,      SYS_recvfrom,       SYS_sendto, SYS_recvmsg,
    SYS_sendmsg,   SYS_flock,   SYS_fcntl,        SYS_futex,          SYS_splice, SYS_sendfile,
    SYS_getrandom, SYS_mq_open, SYS_mq_timedsend, SYS_mq_timedreceive};

constexpr int kRead = 32;  // bytes of code before the system call

const Wait* find_wait(int number) {
  for (const Wait& wait : kWaits)
    if (wait.number == number) return &wait;
  return nullptr;
}

// Signals that end no wait: those that libc itself handles, and those that an instruction raises.
constexpr std::uint64_t kOthers =
    ~(signal_bit(SIGPROF) | signal_bit(SIGKILL) | signal_bit(SIGSTOP) | signal_bit(SIGSEGV) |
      signal_bit(SIGBUS) | signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP) |
      signal_bit(32) | signal_bit(33));

bool has_handler_for(std::uint64_t signals) {
  constexpr std::uint64_t kIgnored = 1;
  for (int signal = 1; signal <= 64; ++signal)
    if (signals & signal_bit(signal) && kernel_action(signal).handler > kIgnored) return true;
  struct sigaction theirs {};
  exchange_program_action(nullptr, &theirs);
  return theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN;
}

// Returns true if the call stores the remaining time apart from the requested one: such a caller
// continues the sleep by itself.
bool reports_remaining_time(int number, const greg_t* registers) {
  const auto other = [&](int rest, int time) {
    return registers[rest] != 0 && registers[rest] != registers[time];
  };
  if (number == SYS_nanosleep) return other(REG_RSI, REG_RDI);
  return number == SYS_clock_nanosleep && other(REG_R10, REG_RDX);
}

}  // namespace

int call_before(const unsigned char* next) {
  constexpr int kMostLoads = 3;
  const unsigned char* at = next - 2;
  if (at[0] != 0x0f || at[1] != 0x05) return -1;
  for (int loads = 0; loads <= kMostLoads; ++loads) {
    // mov $number, %eax; with a prefix the register is another one.
    if (at[-5] == 0xb8 && at[-2] == 0 && at[-1] == 0)
      return (at[-6] & 0xf1) == 0x41 ? -1 : at[-4] | at[-3] << 8;
    // mov disp8(%rsp), %register
    if (at[-4] != 0x8b || (at[-3] & 0xc7) != 0x44 || at[-2] != 0x24) return -1;
    at -= (at[-5] & 0xf0) == 0x40 ? 5 : 4;
  }
  return -1;
}

// Also repairs restart_syscall(2), which the kernel substitutes after a debugger's stop and which
// fails if a handler has run in between.
void restart_wait(ucontext_t& context) {
  constexpr std::uint64_t kInstruction = 2;  // bytes
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  const bool has_ended = registers[REG_RAX] == -EINTR;
  if (!has_ended && registers[REG_RAX] != SYS_restart_syscall) return;
  const std::uint64_t next = has_ended ? pc : pc + kInstruction;
  if (!can_be_read(next - kRead) || !can_be_read(next - kSignalMaskBytes)) return;
  const int number = call_before(reinterpret_cast<const unsigned char*>(next));
  const Wait* wait = find_wait(number);
  if (!wait || reports_remaining_time(number, registers)) return;
  std::uint64_t blocked = 0;
  std::memcpy(&blocked, &context.uc_sigmask, sizeof blocked);
  if (has_handler_for(kOthers & ~(wait->has_own_mask ? 0 : blocked))) return;
  registers[REG_RAX] = number;
  registers[REG_RIP] = static_cast<greg_t>(next - kInstruction);
}

void fail_restarted_call(ucontext_t& context) {
  constexpr int kInstruction = 2;  // bytes
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  if (std::find(std::begin(kRestarted), std::end(kRestarted), registers[REG_RAX]) ==
          std::end(kRestarted) ||
      !can_be_read(pc) || !can_be_read(pc + kInstruction - kSignalMaskBytes))
    return;
  const auto* code = reinterpret_cast<const unsigned char*>(pc);
  if (code[0] != 0x0f || code[1] != 0x05) return;
  registers[REG_RAX] = -EINTR;
  registers[REG_RIP] += kInstruction;
}

}  // namespace gnomon::collector
