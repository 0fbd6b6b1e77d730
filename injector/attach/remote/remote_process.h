// A running process seen from outside: its memory and what is mapped there. Any thread; stops
// nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnomon::injector {

// All of it or nothing (process_vm_readv(2), with the rights of a debugger).
bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes);

// Where the process itself may write; all of it or nothing.
bool write_memory(pid_t pid, std::uint64_t address, const void* from, std::size_t bytes);
// Also where it may not (proc_pid_mem(5)).
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
  std::string path;         // empty: none; also "[heap]" and its like
};
std::vector<Mapping> mappings_of(pid_t pid);
// Whether all of [begin, begin + bytes) is mapped, with `permissions` (as in "rw-").
bool is_mapped(pid_t pid, std::uint64_t begin, std::uint64_t bytes, const std::string& permissions);

std::vector<pid_t> threads_of(pid_t pid);
// Calls `look` with each number below `count`, on several threads if there are many: what it reads
// from /proc of one thread of a process takes the kernel 10 to 20 us.
void look_at_each(std::size_t count, const std::function<void(std::size_t index)>& look);
// What the kernel gave the program that runs in a process; another after execve(2), for whose end
// it waits, up to 0.1 s.
std::string program_identity(pid_t pid);
// False: that one has ended, or another has begun. Of a process whose first thread has ended little
// is known; it is there while others run.
bool is_program(pid_t pid, const std::string& identity);
// The letter of proc_pid_stat(5): 'R', 'S', 'D', 'T', 't', 'Z'; 0: it has ended.
char state_of(pid_t pid, pid_t tid);
// A number of /proc/PID/stat, by its place in proc_pid_stat(5), from the fourth on. 0: none is
// there.
std::uint64_t stat_number(const std::string& stat, int place);
// PF_… of the kernel's; 0: it has ended.
std::uint64_t process_flags(pid_t pid);
// The number of such a line in a text, as "TracerPid:\t5".
std::optional<std::uint64_t> number_in(const std::string& text, const std::string& name,
                                       int base = 10);
// A number of /proc/PID/status, as "TracerPid".
std::optional<std::uint64_t> status_number(pid_t pid, const std::string& name);

// Text of /proc/PID/name; empty: it cannot be read.
std::string proc_text(pid_t pid, const std::string& name);
// Where the link /proc/PID/name leads; empty: it cannot be read.
std::string proc_link(pid_t pid, const std::string& name);
// A number of /proc/PID/task/TID/status, as "SigBlk" (hexadecimal).
std::optional<std::uint64_t> status_mask(pid_t pid, pid_t tid, const std::string& name);

}  // namespace gnomon::injector
