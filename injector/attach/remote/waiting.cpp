// Finds threads that wait in a system call without holding a lock of libc's, so that they can be
// borrowed for a call. Any thread; stops nothing.
#include "injector/attach/remote/waiting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

constexpr long kWaitingCalls[] = {
    SYS_nanosleep,     SYS_clock_nanosleep, SYS_poll,        SYS_ppoll,        SYS_select,
    SYS_pselect6,      SYS_epoll_wait,      SYS_epoll_pwait, SYS_epoll_pwait2, SYS_accept,
    SYS_accept4,       SYS_recvfrom,        SYS_recvmsg,     SYS_pause,        SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend, SYS_semop,           SYS_semtimedop,  SYS_msgrcv,       SYS_msgsnd,
    SYS_wait4,         SYS_waitid,          SYS_flock,       SYS_connect};
constexpr long kTransfers[] = {SYS_read, SYS_write, SYS_readv, SYS_writev};
// Further calls in which libc holds no lock unless their caller does.
constexpr long kOthers[] = {SYS_futex, SYS_sendto, SYS_sendmsg};
// signal(7): these fail with EINTR when a debugger has stopped them, though no handler ran.
constexpr long kBrokenByStops[] = {SYS_epoll_wait,      SYS_epoll_pwait, SYS_epoll_pwait2,
                                   SYS_rt_sigtimedwait, SYS_semop,       SYS_semtimedop};

// Calls whose remaining time the kernel keeps for restart_syscall.
constexpr long kTimed[] = {SYS_poll, SYS_nanosleep, SYS_clock_nanosleep, SYS_futex};

// include/linux/errno.h of the kernel.
constexpr std::int64_t kRestartSys = -512, kRestartNoIntr = -513, kRestartNoHand = -514,
                       kRestartBlock = -516, kInterrupted = -4;

template <std::size_t N>
bool contains(const long (&list)[N], long number) {
  return std::find(std::begin(list), std::end(list), number) != std::end(list);
}

struct Call {
  long number;
  std::uint64_t first;  // argument
  std::uint64_t pc;     // address behind the syscall instruction
};

// proc_pid_syscall(5): "running", or the number, six arguments, stack pointer and pc; -1: none.
std::optional<Call> call_of(pid_t pid, pid_t tid) {
  const std::string text = proc_text(pid, "task/" + std::to_string(tid) + "/syscall");
  char* rest = nullptr;
  Call call{std::strtol(text.c_str(), &rest, 10), 0, 0};
  if (rest == text.c_str() || call.number < 0) return std::nullopt;
  call.first = std::strtoull(rest, &rest, 16);
  for (int i = 0; i < 7; ++i) call.pc = std::strtoull(rest, &rest, 16);
  return call;
}

// A call that was stopped before has the number of restart_syscall. The code tells the real one:
// the last `mov $number, %eax` before the syscall instruction.
long number_in_code(pid_t pid, std::uint64_t pc) {
  constexpr std::size_t kBack = 32, kMove = 5;
  std::array<unsigned char, kBack> code{};
  if (!read_memory(pid, pc - 2 - kBack, code.data(), kBack)) return -1;
  for (std::size_t at = kBack - kMove + 1; at-- > 0;)
    if (code[at] == 0xb8 && code[at + 3] == 0 && code[at + 4] == 0)
      return code[at + 1] | code[at + 2] << 8;
  return -1;
}

// Returns the number of the system call from which the thread has just returned, or nothing.
std::optional<long> call_before(const Stopped& thread) {
  constexpr std::array<unsigned char, 2> kSyscall = {0x0f, 0x05};
  const auto before = read_value<std::array<unsigned char, 2>>(thread.pid, thread.rip() - 2);
  return before == kSyscall ? system_call_of(thread.pid, thread.tid) : std::nullopt;
}

// Returns false for files and for memory devices (null, zero, urandom): a read from them ends by
// itself and may be the loader's. Contacts no file server.
bool waits_for_others(pid_t pid, std::uint64_t descriptor) {
  constexpr std::uint32_t kMemoryDevices = 1;  // major number; Linux, admin-guide/devices.txt
  const std::string name = "fd/" + std::to_string(descriptor);
  if (proc_link(pid, name).starts_with("anon_inode:")) return true;
  struct statx file {};
  if (statx(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/" + name).c_str(), AT_STATX_DONT_SYNC,
            STATX_TYPE, &file) != 0)
    return false;
  return S_ISFIFO(file.stx_mode) || S_ISSOCK(file.stx_mode) ||
         (S_ISCHR(file.stx_mode) && file.stx_rdev_major != kMemoryDevices);
}

// Reads the mapped words above a stack pointer, 256 KiB at most.
std::vector<std::uint64_t> stack_of(pid_t pid, std::uint64_t rsp) {
  constexpr std::size_t kWords = 32ul * 1024, kPageWords = 512;
  std::vector<std::uint64_t> stack;
  const std::uint64_t first = kPageWords - rsp % 4096 / 8;  // up to the next page
  for (std::size_t words = first; stack.size() < kWords; words = kPageWords) {
    const std::size_t old = stack.size();
    stack.resize(old + words);
    if (!read_memory(pid, rsp + old * 8, &stack[old], words * 8)) {
      stack.resize(old);
      break;
    }
  }
  return stack;
}

}  // namespace

// The last two words of proc_pid_syscall(5).
std::optional<Place> place_of(pid_t pid, pid_t tid) {
  const std::string text = proc_text(pid, "task/" + std::to_string(tid) + "/syscall");
  const std::size_t last = text.rfind(" 0x");
  if (last == std::string::npos || last == 0) return std::nullopt;
  const std::size_t before = text.rfind(" 0x", last - 1);
  if (before == std::string::npos) return std::nullopt;
  return Place{std::strtoull(text.c_str() + before, nullptr, 16),
               std::strtoull(text.c_str() + last, nullptr, 16)};
}

std::uint64_t program_counter_of(pid_t pid, pid_t tid) {
  const auto place = place_of(pid, tid);
  return place ? place->pc : 0;
}

bool comes_to(pid_t pid, pid_t tid, std::uint64_t code, std::uint64_t bytes) {
  const auto is_there = [&](std::uint64_t address) { return address - code < bytes; };
  const auto place = place_of(pid, tid);
  if (!place || is_there(place->pc)) return true;
  const std::vector<std::uint64_t> stack = stack_of(pid, place->sp);
  return std::any_of(stack.begin(), stack.end(), is_there);
}

std::optional<long> system_call_of(pid_t pid, pid_t tid) {
  const auto call = call_of(pid, tid);
  return call ? std::optional(call->number) : std::nullopt;
}

bool is_plain_wait(pid_t pid, pid_t tid) {
  const auto call = call_of(pid, tid);
  if (!call) return false;
  if (call->number == SYS_restart_syscall)
    return contains(kWaitingCalls, number_in_code(pid, call->pc));
  return contains(kWaitingCalls, call->number) ||
         (contains(kTransfers, call->number) && waits_for_others(pid, call->first));
}

bool is_interrupted_by_stops(long number) { return contains(kBrokenByStops, number); }

bool is_restart_code(std::uint64_t rax) {
  const auto result = static_cast<std::int64_t>(rax);
  return result <= kRestartSys && result >= kRestartBlock;
}

std::optional<Resume> restart(const Stopped& thread) {
  const auto number = call_before(thread);
  if (!number) return std::nullopt;
  const auto result = static_cast<std::int64_t>(thread.rax());
  const std::uint64_t again = thread.rip() - 2;
  if (result == kRestartBlock) return Resume{SYS_restart_syscall, again};
  if (result == kRestartSys || result == kRestartNoIntr || result == kRestartNoHand ||
      (result == kInterrupted && contains(kBrokenByStops, *number)))
    return Resume{static_cast<std::uint64_t>(*number), again};
  return std::nullopt;
}

// The handler of a tick does the same with the registers of its frame (clock/interrupted_wait.cpp).
std::uint64_t restart_number(const Stopped& thread) {
  constexpr std::size_t kRdx = 1, kRsi = 4, kRdi = 5, kR10 = 10;  // AMD64 ABI, figure 3.36
  if (static_cast<std::int64_t>(thread.rax()) != kRestartBlock) return 0;
  auto number = call_before(thread);
  if (number == SYS_restart_syscall) number = number_in_code(thread.pid, thread.rip());
  if (!number || !contains(kTimed, *number)) return 0;
  const auto tells_rest = [&](std::size_t rest, std::size_t time) {
    return thread.registers[rest] != 0 && thread.registers[rest] != thread.registers[time];
  };
  if ((*number == SYS_nanosleep && tells_rest(kRsi, kRdi)) ||
      (*number == SYS_clock_nanosleep && tells_rest(kR10, kRdx)))
    return 0;
  return static_cast<std::uint64_t>(*number);
}

bool has_waited(const Stopped& thread) {
  const auto number = call_before(thread);
  return number && !restart(thread) && !is_restart_code(thread.rax()) &&
         (contains(kWaitingCalls, *number) || contains(kTransfers, *number) ||
          contains(kOthers, *number));
}

// The kernel's signal frame begins with the address of libc's `mov $15, %rax; syscall`
// (rt_sigreturn). A stale one makes a thread look unfit, never fit.
bool runs_handler(const Stopped& thread) {
  constexpr std::array<unsigned char, 9> kReturn = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  std::vector<std::uint64_t> stack = stack_of(thread.pid, thread.rsp());
  std::sort(stack.begin(), stack.end());
  stack.erase(std::unique(stack.begin(), stack.end()), stack.end());
  const std::vector<Mapping> mappings = mappings_of(thread.pid);
  for (const Mapping& mapping : mappings) {
    if (mapping.permissions.find('x') == std::string::npos) continue;
    for (auto at = std::lower_bound(stack.begin(), stack.end(), mapping.begin);
         at != stack.end() && *at < mapping.end; ++at)
      if (read_value<std::array<unsigned char, 9>>(thread.pid, *at) == kReturn) return true;
  }
  return false;
}

bool has_signal_to_come(pid_t pid, pid_t tid) {
  const std::string status = proc_text(pid, "task/" + std::to_string(tid) + "/status");
  const auto own = number_in(status, "SigPnd", 16), shared = number_in(status, "ShdPnd", 16),
             blocked = number_in(status, "SigBlk", 16), caught = number_in(status, "SigCgt", 16);
  return !own || !shared || !blocked || !caught || ((*own | *shared) & ~*blocked & *caught) != 0;
}

}  // namespace gnomon::injector
