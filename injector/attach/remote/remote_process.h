// A running process seen from outside: memory, mappings and /proc. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnomon::injector {

// Reads all bytes or returns false (process_vm_readv(2), which needs the rights of a debugger).
bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes);

// Writes all bytes or returns false, where the process itself may write.
bool write_memory(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes);
// The same, also to read-only memory (proc_pid_mem(5)).
bool write_code(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes);

template <typename T>
std::optional<T> read_value(pid_t pid, std::uint64_t address) {
  T value;
  if (!read_memory(pid, address, &value, sizeof value)) return std::nullopt;
  return value;
}

// A line of /proc/PID/maps.
struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::string permissions;  // "r-xp"
  std::string path;         // may be empty, or "[heap]" and its like
};
std::vector<Mapping> mappings_of(pid_t pid);
// Returns true if all of [begin, begin + bytes) is mapped with `permissions` (such as "rw-").
bool is_mapped(pid_t pid, std::uint64_t begin, std::uint64_t bytes, const std::string& permissions);

std::vector<pid_t> threads_of(pid_t pid);
// Calls look(i) for each i below `count`, on several threads if there are many: reading a thread's
// file in /proc takes 10 to 20 us.
void look_at_each(std::size_t count, const std::function<void(std::size_t index)>& look);
// Returns what identifies the program that a process runs (its auxiliary vector), which changes at
// execve(2). Waits up to 0.1 s for the end of an execve(2).
std::string program_identity(pid_t pid);
// Returns false if the process has ended or executed another program. A process whose first thread
// has ended cannot be identified; it counts as the same while other threads run.
bool is_program(pid_t pid, const std::string& identity);
// Returns the state letter of proc_pid_stat(5) ('R', 'S', 'D', 'T', 't', 'Z'), or 0 if the thread
// has ended.
char state_of(pid_t pid, pid_t tid);
// Returns true once all threads of the process have ended, though nobody may have waited for it.
bool has_ended(pid_t pid);
// Returns field `place` (4 or more) of the text of /proc/PID/stat, numbered as in proc_pid_stat(5);
// 0 if it is missing.
std::uint64_t stat_number(const std::string& stat, int place);
// Returns the kernel's PF_... flags; 0 if the process has ended.
std::uint64_t process_flags(pid_t pid);
// Returns the number of a line such as "TracerPid:\t5" in `text`.
std::optional<std::uint64_t> number_in(const std::string& text, const std::string& name,
                                       int base = 10);
// Returns a number of /proc/PID/status, such as that of "TracerPid".
std::optional<std::uint64_t> status_number(pid_t pid, const std::string& name);

// Returns the text of /proc/PID/name, or "" if it cannot be read.
std::string proc_text(pid_t pid, const std::string& name);
// Returns the target of the link /proc/PID/name, or "" if it cannot be read.
std::string proc_link(pid_t pid, const std::string& name);
// Returns a hexadecimal number of /proc/PID/task/TID/status, such as that of "SigBlk".
std::optional<std::uint64_t> status_mask(pid_t pid, pid_t tid, const std::string& name);

}  // namespace gnomon::injector
