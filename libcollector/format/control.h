// Control page: the file `control` of an experiment, mapped by the collector and by its readers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcollector/format/events.h"

namespace gnomon::format {

inline constexpr std::uint32_t kControlMagic = 0x54434e47;  // "GNCT"
inline constexpr std::uint64_t kControlBytes = 4096;

enum class State : std::uint32_t { none = 0, recording = 1, ended = 2, failed = 3 };

// Why recording failed. The sentence for each stands in kFailures.
enum class Failure : std::uint32_t {
  none = 0,
  file_size_limit = 1,
  no_space = 2,
  open_file = 3,
  map_file = 4,
  stacks_full = 5,
  no_clock = 6,
};
struct FailureText {
  Failure failure;
  std::string_view what, next;
};
inline constexpr std::array kFailures{
    FailureText{Failure::file_size_limit, "the program's file size limit was reached",
                "raise it (ulimit -f) before the run"},
    FailureText{Failure::no_space, "the file system of the experiment is full",
                "free space, or change to another directory before the run"},
    FailureText{Failure::open_file, "the program could not open the experiment's files",
                "see whether it changed its user, its root directory or its limits"},
    FailureText{Failure::map_file, "the program could not map the experiment's files",
                "see its memory limit (ulimit -v)"},
    FailureText{Failure::stacks_full, "there are more call stacks than the stack table holds",
                "profile a shorter run"},
    FailureText{Failure::no_clock, "the program could not set up its sampling clock",
                "see whether a sandbox forbids it timers and signal handlers"},
};

// What was lost, and why. One counter a row in ControlPage::dropped.
enum class Drop : std::uint32_t {
  lanes_busy = 0,
  threads_full = 1,
  thread_clocks = 2,
  load_objects = 3
};
struct DropText {
  Drop drop;
  std::string_view what;
};
inline constexpr std::array kDrops{
    DropText{Drop::lanes_busy, "samples dropped because every recording lane was busy"},
    DropText{Drop::threads_full, "threads not sampled because too many run at once"},
    DropText{Drop::thread_clocks, "threads not sampled because the kernel refused them a timer"},
    DropText{Drop::load_objects, "load objects could not be noted: their functions are <Unknown>"},
};

// Zero everywhere: not written yet. Counters only grow while the state is `recording`.
struct ControlPage {
  std::uint32_t magic;
  std::uint16_t major;
  std::uint16_t minor;
  std::uint64_t session;
  std::uint32_t pid;
  std::uint32_t state;    // State
  std::uint32_t failure;  // Failure
  std::int32_t failure_errno;
  std::uint64_t start_time;  // CLOCK_MONOTONIC, ns
  std::uint64_t end_time;    // 0: still running, or ended without saying so
  std::uint64_t cpu_time;    // the process's CPU time when recording ended, ns; 0: not known
  std::uint64_t threads;     // threads sampled
  std::uint64_t dropped[16];
  std::uint32_t blocks[kDataKinds];  // blocks claimed of each data file
};
static_assert(sizeof(ControlPage) <= kControlBytes);
static_assert(offsetof(ControlPage, state) == 20);
static_assert(offsetof(ControlPage, dropped) == 64);
static_assert(offsetof(ControlPage, blocks) == 192);

}  // namespace gnomon::format
