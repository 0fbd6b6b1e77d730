// Control page: the file `control` of an experiment, mapped by the collector and by its readers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcollector/format/block.h"
#include "libcollector/format/events.h"
#include "libcollector/format/names.h"

namespace gnomon::format {

inline constexpr std::uint32_t kControlMagic = 0x54434e47;  // "GNCT"
inline constexpr std::uint64_t kControlBytes = 4096;

// armed: everything is set up, the program is held until `asked` says to record.
enum class State : std::uint32_t { none = 0, recording = 1, ended = 2, failed = 3, armed = 4 };
inline constexpr State kLastState = State::armed;

// What the debugger, gnomon-sampler or a signal asks for. Besides this word only what concerns
// gnomon-sampler and pauses is written from outside the program.
// end: nothing is recorded any more; the next tick ends the recording and closes it. Nothing
// follows it. pause: no event is recorded until the word is `record` again.
enum class Ask : std::uint32_t { nothing = 0, record = 1, end = 2, pause = 3 };

// Who takes the clock's samples: the threads of the recorded process, in the handler of SIGPROF, or
// gnomon-sampler, from the kernel's rings: also of time in the kernel, or of user time alone where
// the kernel gives no more. Stored before State::recording.
enum class Clock : std::uint32_t { none = 0, signal = 1, kernel = 2, user = 3 };
constexpr bool is_from_outside(std::uint32_t clock) {
  return clock == static_cast<std::uint32_t>(Clock::kernel) ||
         clock == static_cast<std::uint32_t>(Clock::user);
}

// Why the recording of events is paused. Stored before Ask::pause. size_limit: for good.
enum class PauseReason : std::uint32_t { asked = 0, delay = 1, size_limit = 2 };

// Why recording failed. The sentence for each stands in kFailures.
enum class Failure : std::uint32_t {
  none = 0,
  file_size_limit = 1,
  no_space = 2,
  open_file = 3,
  map_file = 4,
  stacks_full = 5,
  no_clock = 6,
  confined = 7,
  profil = 8,
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
                "see whether it changed its user, its root directory or its limits, or closed all "
                "its files"},
    FailureText{Failure::map_file, "the program could not map the experiment's files",
                "see its memory limit (ulimit -v), and whether it has as many mappings as it may "
                "(sysctl vm.max_map_count)"},
    FailureText{Failure::stacks_full, "there are more call stacks than the stack table holds",
                "profile a shorter run"},
    FailureText{Failure::no_clock, "the program could not set up its sampling clock",
                "see whether a sandbox forbids it timers and signal handlers"},
    FailureText{Failure::confined,
                "the program confined its system calls (seccomp), and could be killed for the "
                "collector's",
                "run it without its sandbox to see the rest"},
    FailureText{Failure::profil,
                "the program samples itself by profil(3), which will take SIGPROF back",
                "launch it under the collector, or record it without a clock (profile off)"},
};

// Null: written by a newer collector.
constexpr const FailureText* find_failure(std::uint32_t failure) {
  for (const FailureText& row : kFailures)
    if (static_cast<std::uint32_t>(row.failure) == failure) return &row;
  return nullptr;
}

// What was lost, and why. One counter a row in ControlPage::dropped.
enum class Drop : std::uint32_t {
  writers_busy = 0,
  threads_full = 1,
  thread_clocks = 2,
  load_objects = 3,
  handler_displaced = 4,
  small_alternate_stack = 5,
  blocking_threads = 6,
  foreign_thread_makers = 7,
  unbound = 8,
  samples = 9,
  wrong_stacks = 10,
  own_functions = 11,
  heap_samples = 12,
  ring_full = 13,
  children_samples = 14,
  no_lane = 15,
};
struct DropText {
  Drop drop;
  std::string_view what;
};
inline constexpr std::array kDrops{
    DropText{Drop::writers_busy, "events dropped because too many threads recorded at once"},
    DropText{Drop::threads_full, "threads not sampled because too many run at once"},
    DropText{Drop::thread_clocks, "threads not sampled because the kernel refused them a timer"},
    DropText{Drop::load_objects,
             "load objects that could not be noted, so that their functions are <Unknown>"},
    DropText{Drop::handler_displaced,
             "times the program set the action of SIGPROF by a raw system call, which ends the "
             "sampling"},
    DropText{Drop::small_alternate_stack,
             "threads not sampled while their alternate signal stack was too small for it"},
    DropText{Drop::blocking_threads,
             "threads not sampled because they block SIGPROF or were in a signal handler"},
    DropText{Drop::foreign_thread_makers,
             "libraries with a pthread_create of their own, whose new threads are not sampled"},
    DropText{Drop::unbound,
             "call sites that bypass the collector, because their memory cannot be changed"},
    DropText{Drop::samples, "samples of the process's use of the system that could not be written"},
    DropText{Drop::wrong_stacks, "traced calls whose call stack was wrong"},
    DropText{Drop::heap_samples, "sampled allocations left out for want of room"},
    DropText{
        Drop::ring_full,
        "records of the kernel (clock samples, switches between threads, mappings) lost because "
        "gnomon-sampler did not come to read them in time"},
    DropText{Drop::children_samples, "clock samples of child processes, which are not recorded"},
    DropText{Drop::no_lane, "events dropped for want of memory or room to record them in"},
    DropText{Drop::own_functions,
             "functions that the program itself defines, so that its calls of them are not traced"},
};

// Returns true for threads that signals do not sample. gnomon-sampler samples those as well.
constexpr bool is_of_signals(Drop drop) {
  return drop == Drop::threads_full || drop == Drop::thread_clocks ||
         drop == Drop::handler_displaced || drop == Drop::small_alternate_stack ||
         drop == Drop::blocking_threads || drop == Drop::foreign_thread_makers;
}

// What gnomon-sampler is asked for; whatever it is, samples of the kernel's clock are recorded
// before it answers. sample: take a sample with this label. end: take the last one, the recording
// ends. record: that alone. watch: watch what the label says (watches.h); unwatch: no more, the
// label is the number. The answer of both stands in the page's `answer`: the number behind #, or a
// clause that says why not.
enum class Verb : std::uint32_t {
  none = 0,
  sample = 1,
  end = 2,
  record = 3,
  watch = 4,
  unwatch = 5
};
inline constexpr std::size_t kLabelBytes = 256;  // with a final 0

// One request to gnomon-sampler at a time. Whoever asks makes `sequence` odd by a compare-and-swap,
// fills in the request, makes `sequence` even again and wakes it; the sampler carries the request
// out, stores that number in `answered` and wakes it. Whoever finds a request that is not carried
// out in time takes the mailbox over: a request is void once `sequence` is another number.
struct Mailbox {
  std::uint32_t sequence;  // futex
  std::uint32_t answered;  // futex
  std::uint32_t verb;      // Verb
  std::uint32_t event;     // SampleEvent of the sample
  char label[kLabelBytes];
};
static_assert(sizeof(Mailbox) == 272);

// Zero everywhere: not written yet. Counters only grow.
struct ControlPage {
  std::uint32_t magic;
  std::uint16_t major;
  std::uint16_t minor;
  std::uint64_t session;
  std::uint32_t pid;
  std::uint32_t state;    // State
  std::uint32_t failure;  // Failure
  std::int32_t failure_errno;
  std::uint64_t start_time;          // CLOCK_MONOTONIC, ns
  std::uint64_t end_time;            // 0: still running, or ended without saying so
  std::uint64_t cpu_time;            // of the process, while it was recorded, ns; 0: not known
  std::uint64_t threads;             // threads sampled
  std::uint32_t blocks[kDataKinds];  // blocks begun of each data file, in it or still in a lane
  std::uint32_t lanes;               // lanes that the file `lanes` may hold
  std::uint32_t map_lines;           // lines of map.jsonl
  std::uint32_t asked;               // Ask; a futex word
  std::uint32_t replacing;           // exec calls under way; for good once one has succeeded
  std::uint64_t sampler_time;  // gnomon-sampler was at work then; CLOCK_MONOTONIC, ns; 0: never
  std::uint32_t sampler;       // its process id, in its own pid namespace; 0: it ended in order
  std::uint32_t pause_reason;  // PauseReason of the latest pause
  Mailbox mailbox;
  // Lines begun of the files `overview` and log.jsonl, by whoever writes them.
  std::uint32_t overview_lines;
  std::uint32_t log_lines;
  std::uint32_t begun;     // begun_check; stored before State::recording
  std::uint32_t children;  // child processes that the program has started by libc
  // From then on allocations are not recorded, frees are; CLOCK_MONOTONIC, ns; 0: never.
  std::uint64_t frees_only;
  // In the recorded process: where the address of its first ThreadWait stands; 0: nothing that
  // waits is traced.
  std::uint64_t waits;
  std::uint32_t epoch;            // of the code that is loaded now, see kEpochTag
  std::uint32_t map_lines_begun;  // lines of map.jsonl that have a number
  // Processes that write events: the recorded one, and gnomon-sampler if it takes the clock's
  // samples. Whoever leaves last closes the experiment; 0: nobody may join any more.
  std::uint32_t writers;
  std::uint32_t clock;  // Clock
  // In the recorded process: where call stacks end, and code of the collector, as collector::Roots.
  std::uint64_t roots[7];
  // Threads that were in the middle of a traced call when the recording ended. Their lanes have
  // stayed in the file `lanes`, with so many events.
  std::uint32_t kept_threads, kept_events;
  // Lines of counters.jsonl that begin a counter, and of watches.jsonl that begin a watch.
  std::uint32_t counters, watches;
  char answer[kLabelBytes];  // to the request of the mailbox that was answered last, if it has one
  std::uint64_t dropped[64];
};
static_assert(kDrops.size() <= sizeof(ControlPage::dropped) / sizeof(std::uint64_t));
static_assert(offsetof(ControlPage, state) == 20);
static_assert(offsetof(ControlPage, blocks) == 64);
static_assert(offsetof(ControlPage, lanes) == 128);
static_assert(offsetof(ControlPage, asked) == 136);
static_assert(offsetof(ControlPage, mailbox) == 160);
static_assert(offsetof(ControlPage, overview_lines) == 432);
static_assert(offsetof(ControlPage, frees_only) == 448);
static_assert(offsetof(ControlPage, waits) == 456);
static_assert(offsetof(ControlPage, roots) == 480);
static_assert(offsetof(ControlPage, dropped) == 808);
static_assert(sizeof(ControlPage) == 1320);

// In the recorded process's memory, for a debugger that has stopped it: what a traced thread waits
// for. A list.
struct ThreadWait {
  std::uint64_t next;    // address; 0: none
  std::uint64_t since;   // CLOCK_MONOTONIC, ns; 0: it does not wait. A longjmp out of the wait
                         // leaves it: whoever looks makes sure that the thread is in a system call.
  std::uint64_t object;  // its address; of a join, the thread's pthread_t
  std::uint32_t kind;    // WaitKind
  std::uint32_t thread;  // that waits
};
static_assert(sizeof(ThreadWait) == 32);

// Once every block is closed the page stands here again, for good: late counts of a thread that the
// end of the program overtook change the live page only.
inline constexpr std::uint64_t kClosedPageOffset = 2048;
struct ClosedPage {
  std::uint32_t check;  // page_check of `page`; stored last; 0: not closed
  std::uint32_t reserved;
  ControlPage page;
};
static_assert(offsetof(ClosedPage, page) == 8);
static_assert(sizeof(ControlPage) <= kClosedPageOffset);
static_assert(kClosedPageOffset + sizeof(ClosedPage) <= kControlBytes);

// The file `ended`, while gnomon-sampler is the clock: threads of the recorded process that have
// ended. A thread's place is its number modulo kEndedThreads; a later one may take it.
struct EndedThread {
  std::uint32_t thread;  // stored last; 0: none
  std::uint32_t start;   // node of the call stack of its start routine; 0: not known
  std::uint64_t cpu;     // CPU time that it had used before it ended, ns
};
static_assert(sizeof(EndedThread) == 16);
inline constexpr std::uint32_t kEndedThreads = 2048;

// The file `places`, while gnomon-sampler is the clock and sees user time alone: nodes of the call
// stacks with which ticks have found a thread in a system call. A thread's place in this file and
// in the next is like that of an EndedThread.
struct KernelPlaces {
  static constexpr const char* kFile = kPlacesFile;
  static constexpr std::uint32_t kKept = 14;
  using Note = std::uint32_t;

  std::uint32_t thread;  // that writes here; 0: none
  std::uint32_t count;   // of its notes so far; stored last
  Note notes[kKept];     // each at its number % kKept
};
static_assert(sizeof(KernelPlaces) == 64);

// The file `waits`, while gnomon-sampler is the clock and does not see why threads wait: calls in
// which a thread has waited long.
struct LongWait {
  std::uint64_t begin, end;  // CLOCK_MONOTONIC, ns
  std::uint32_t stack;       // node of the call's call stack
  std::uint32_t state;       // ThreadState
};
struct LongWaits {
  static constexpr const char* kFile = kWaitsFile;
  static constexpr std::uint32_t kKept = 32;
  using Note = LongWait;

  std::uint32_t thread, count;  // as above
  Note notes[kKept];
};
static_assert(sizeof(LongWaits) == 776);

// Of the fields that do not change once the recording has begun. Never 0.
constexpr std::uint32_t begun_check(const ControlPage& page) {
  std::uint64_t sum = digest_step(page.session, std::uint64_t{page.major} << 16 | page.minor);
  sum = digest_step(sum, page.pid);
  return folded_check(digest_step(sum, page.start_time));
}

// Never 0.
inline std::uint32_t page_check(const ControlPage& page) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < sizeof page; at += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, reinterpret_cast<const char*>(&page) + at, sizeof word);
    sum = digest_step(sum, word);
  }
  return folded_check(digest_step(sum, sizeof page));
}

}  // namespace gnomon::format
