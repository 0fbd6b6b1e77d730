// Threads that wait in a system call in which they hold no lock of libc's: there they can be
// borrowed for a call. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "injector/attach/remote/remote_stack.h"

namespace gnomon::injector {

// The system call that a thread is in; empty: none, or it runs, or it cannot be told.
std::optional<long> system_call_of(pid_t pid, pid_t tid);

struct Place {
  std::uint64_t sp, pc;
  bool operator==(const Place&) const = default;
};

// Where a thread that does not run stands; empty, or 0: it runs, or it cannot be told. Unlike
// LLDB's frame, which takes up to 150 ms for a load object that LLDB has not seen yet.
std::optional<Place> place_of(pid_t pid, pid_t tid);
std::uint64_t program_counter_of(pid_t pid, pid_t tid);

// True if a thread waits in a call of the kind that nothing of libc's stands behind: sleeps, waits
// for descriptors and signals, reads from pipes, sockets and terminals.
bool is_plain_wait(pid_t pid, pid_t tid);

struct Stopped {
  pid_t pid = 0, tid = 0;
  DwarfRegisters registers{};
  std::uint64_t rax() const { return registers[0]; }
  std::uint64_t rsp() const { return registers[7]; }
  std::uint64_t rip() const { return registers[16]; }
};

// Where a borrowed thread goes on: the registers that differ from those it has.
struct Resume {
  std::uint64_t rax, rip;
};

// True of the system calls that a stop makes fail with EINTR, which the program would see.
bool is_interrupted_by_stops(long number);
// With which registers the thread's interrupted system call begins anew, as the kernel would have
// it (restart codes of linux/errno.h), also one that the stop has broken. Empty: it is not in one
// that can.
std::optional<Resume> restart(const Stopped& thread);
// The number of the call with which a wait begins anew, as if it had not begun, that `restart` lets
// go on where it was (restart_syscall(2)): that fails with EINTR once a handler has run. 0: it goes
// on otherwise, or its caller wants to know what was left of its time.
std::uint64_t restart_number(const Stopped& thread);
// True if the kernel will make a system call begin anew, as it does by these codes in rax.
bool is_restart_code(std::uint64_t rax);

// True if a thread stands right behind a system call that waits or transfers, and has its result:
// it holds what it held inside.
bool has_waited(const Stopped& thread);

// True if a handler of a signal runs in this stopped thread: what it interrupted may hold anything.
bool runs_handler(const Stopped& thread);
// True if a thread that does not run may come to this code without calling it: it stands there, or
// its stack leads back there, as that of a handler does to what it interrupted.
bool comes_to(pid_t pid, pid_t tid, std::uint64_t code, std::uint64_t bytes);
// True if a signal that it has a handler for is about to be delivered to it.
bool has_signal_to_come(pid_t pid, pid_t tid);

}  // namespace gnomon::injector
