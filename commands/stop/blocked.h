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

// Returns true for code that a program's author does not call his own: of the C library, and of
// those of C++ and Rust, also where it is inlined or linked into the program. object: the load
// object's file.
bool is_of_runtime(std::string_view function, std::string_view object);

// What a function of Rust's library waits for: "Rust mutex"; empty: nothing of the kind. Such an
// object does not say who holds it.
std::string_view rust_wait_of(std::string_view function);

// What a function of libc waits for: format::WaitKind; 0: for no thread. `function`: its symbol, in
// any of the forms that libc's debug information has, such as "___pthread_mutex_lock".
std::uint32_t wait_kind_of(std::string_view function);

// The name by which programs call a function of libc: "read" for "__GI___libc_read".
std::string called_name(std::string_view function);

// "mutex", "read lock"; of a format::WaitKind.
std::string wait_kind_name(std::uint32_t kind);

// Where the number of the thread stands that the wait is about: of the owner of the lock that
// begins at `object`, or of a thread that is to end; none: nothing tells (glibc 2.34 to 2.40).
// word: what the kernel waits for.
std::optional<std::uint64_t> place_of_holder(std::uint32_t kind, std::uint64_t object,
                                             std::uint64_t word);

// Where a lock begins, of which `word` is what the kernel waits for: an address (glibc 2.34
// to 2.40).
std::uint64_t base_of_lock(std::uint32_t kind, std::uint64_t word);

}  // namespace gnomon::commands
