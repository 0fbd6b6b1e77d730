// What the threads of a stopped process wait for, and for whom. LLDB's command thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcollector/format/control.h"
#include "libcollector/format/events.h"
#include "reader/base/units.h"
#include "reader/table/table.h"

namespace gnomon::commands {

// A thread that the kernel, or a spin lock, keeps waiting.
struct Waiting {
  std::uint32_t index = 0;           // in the debugger
  std::uint32_t thread = 0;          // kernel thread id
  std::string name;                  // its own; empty: the program's
  std::string what;                  // "mutex queue", "the end of a thread", "poll"
  std::uint32_t holder = 0;          // kernel id of the thread that must go on first; 0: not known
  std::uint32_t holder_index = 0;    // of that in the debugger; 0: it is none of the process's
  std::string holder_name;           // its own
  bool has_no_owner = false;         // nothing says who holds it
  bool is_end = false;               // of the holder is what the thread waits for
  std::optional<Nanoseconds> since;  // for how long
  std::string place;                 // in the program's own code: "consume at queue.c:12"
};

struct Blocked {
  std::vector<Waiting> waiting;
  std::size_t threads = 0;  // that the process has
  bool is_numbered = true;  // by a debugger; else an index is the kernel's number
};

// The table, and above it a sentence for each circle of threads that wait for each other.
reader::Table blocked_table(const Blocked& blocked);

// Returns true for code that a program's author does not call his own: of the libraries of C, C++
// and Rust. Such code may be inlined or linked into the program. object: the load object's file.
bool is_of_runtime(std::string_view function, std::string_view object);

// Returns the object that a function of Rust's library waits for: "Rust mutex". Such an object does
// not say who holds it. Empty: the function waits for none.
std::string_view rust_wait_of(std::string_view function);

// Returns the format::WaitKind of the object that a function of libc waits for; 0: it waits for no
// thread. `function`: its symbol, in any form of libc's debug information
// ("___pthread_mutex_lock").
std::uint32_t wait_kind_of(std::string_view function);

// The name by which programs call a function of libc: "read" for "__GI___libc_read".
std::string called_name(std::string_view function);

// "mutex", "read lock"; of a format::WaitKind.
std::string wait_kind_name(std::uint32_t kind);

// Returns the address where the number of the thread stands that the wait is about (glibc 2.34 to
// 2.40). The thread owns the lock that begins at `object`, or it is to end. None: nothing tells.
// word: the address that the kernel waits at.
std::optional<std::uint64_t> place_of_holder(std::uint32_t kind, std::uint64_t object,
                                             std::uint64_t word);

// Where a lock begins, of which `word` is what the kernel waits for: an address (glibc 2.34
// to 2.40).
std::uint64_t base_of_lock(std::uint32_t kind, std::uint64_t word);

}  // namespace gnomon::commands
