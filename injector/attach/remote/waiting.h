// Finds threads that wait in a system call without holding a lock of libc's, so that they can be
// borrowed for a call. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "injector/attach/remote/remote_stack.h"

namespace gnomon::injector {

// Returns the number of the system call that a thread is in; nothing if it is in none, runs, or
// cannot be read.
std::optional<long> system_call_of(pid_t pid, pid_t tid);

struct Place {
  std::uint64_t sp, pc;
  bool operator==(const Place&) const = default;
};

// Return where a thread stands; nothing, or 0, if it runs or cannot be read. Unlike LLDB's frames
// they are fast: LLDB needs up to 150 ms for a load object that it has not seen yet.
std::optional<Place> place_of(pid_t pid, pid_t tid);
std::uint64_t program_counter_of(pid_t pid, pid_t tid);

// Returns true if a thread waits in a call during which libc holds no lock: sleeps, waits for
// descriptors and signals, reads from pipes, sockets and terminals.
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

// Returns true for system calls that fail with EINTR after a debugger's stop.
bool is_interrupted_by_stops(long number);
// Returns the registers that restart the thread's interrupted system call as the kernel would
// (restart codes of linux/errno.h). Also restarts a call that failed with EINTR because of a
// debugger's stop. Returns nothing if the thread is in no call that can restart.
std::optional<Resume> restart(const Stopped& thread);
// Returns the number by which a wait restarts from its beginning where restart() would resume it by
// restart_syscall(2), which fails with EINTR once a handler has run. Returns 0 if the wait does not
// use that, or if its caller asks for the remaining time.
std::uint64_t restart_number(const Stopped& thread);
// Returns true if rax holds a code by which the kernel restarts the system call.
bool is_restart_code(std::uint64_t rax);

// Returns true if a thread stands right behind a system call that waits or transfers and already
// has its result: it holds the same locks as inside.
bool has_waited(const Stopped& thread);

// Returns true if a signal handler runs in this stopped thread; the interrupted code may hold any
// lock.
bool runs_handler(const Stopped& thread);
// Returns true if a stopped thread stands in this code or will return to it, as a handler does to
// what it interrupted.
bool comes_to(pid_t pid, pid_t tid, std::uint64_t code, std::uint64_t bytes);
// Returns true if a signal for which the process has a handler is about to be delivered to the
// thread.
bool has_signal_to_come(pid_t pid, pid_t tid);

}  // namespace gnomon::injector
