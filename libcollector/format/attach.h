// The request and the answer by which the injector starts or ends a recording in a running process.
// A plain struct in memory of the target.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcollector/format/settings.h"

namespace gnomon::format {

// int gnomon_attach(AttachRequest*) of libcollector.so, called in a thread made for it with all
// signals blocked.
inline constexpr const char* kAttachFunction = "gnomon_attach";
// Ends that recording and gives the process back everything that the collector has changed in it.
// Called likewise.
inline constexpr const char* kReleaseFunction = "gnomon_release";
inline constexpr std::uint32_t kAttachVersion = 12;

// Data of libcollector.so: where its hooks stand, each of which begins with a HookedFunction. In a
// program that is bound to the collector, libc's own symbol table leads to the replacements.
inline constexpr const char* kHookTable = "gnomon_hook_table";
struct HookTable {
  std::uint64_t begin, end;  // addresses
  std::uint64_t row_bytes;
};
// replacement: 0: the row has none.
struct HookedFunction {
  std::uint64_t replacement, original;
};

// Data of libcollector.so, std::int32_t: how far a launch has got. 0: the constructor has not run,
// which comes after those of the program's libraries. 1: it has. Negative: -errno with which the
// experiment could not be made.
inline constexpr const char* kLaunchState = "gnomon_launch_state";

// Data of libcollector.so: the addresses of the memory that an insertion through a debugger has
// left in the process, free for the next; 0: there is none.
inline constexpr const char* kLeftRoom = "gnomon_left_room";
struct LeftRoom {
  std::uint64_t gate, code;
};

// An alternate signal stack of this size, in bytes, has room for a tick beside any handler: Go's
// runtime gives its handlers as much.
inline constexpr std::uint64_t kRoomForHandlers = 32ull * 1024;

// The sentence for each stands in kRefusals.
enum class Attached : std::uint32_t {
  no_answer = 0,
  recording = 1,
  already = 2,  // `directory` says to which experiment
  other_version = 3,
  no_directory = 4,  // `error`: why
  failed = 5,        // `failure`: why
  old_libc = 6,
  released = 7,
  still_holds_masks = 8,  // `blocking` threads still need the collector's handler
  still_holds_clocks = 9,
  still_holds_signal = 10,
  still_ending = 11,
};
struct RefusalText {
  Attached answer;
  std::string_view what, next;
};
inline constexpr std::array kRefusals{
    RefusalText{Attached::no_answer, "the collector did not answer", ""},
    RefusalText{Attached::other_version, "the libcollector.so in the process is of another version",
                "use the Gnomon to which it belongs, or restart the program"},
    RefusalText{
        Attached::old_libc,
        "its libc (older than 2.35) does not tell a running process which code was unloaded",
        "start the program from the debugger instead"},
    RefusalText{Attached::still_holds_masks,
                "some of its threads block SIGPROF in the program's view only, and could not be "
                "made to block it",
                ""},
    RefusalText{Attached::still_holds_clocks, "a clock of the collector's could not be stopped",
                ""},
    RefusalText{Attached::still_holds_signal,
                "a debugger holds one of its threads and may yet deliver a tick of the clock to it",
                ""},
    RefusalText{Attached::still_ending,
                "a debugger holds the thread that is ending its previous recording",
                "let it run, then repeat"},
};

// A thread that blocks SIGPROF permanently, as worker threads of many programs do. When the
// injector removes SIGPROF from its mask, `mask_emulated` becomes 1: the program keeps seeing it as
// blocked.
struct BlockingThread {
  std::uint64_t slot;  // address of a std::uint32_t that holds `tid` while this entry is valid
  std::uint64_t mask_emulated;  // address of a std::uint32_t
  std::uint32_t tid;
  std::uint32_t reachable;  // 1: the injector has found or made SIGPROF unblocked
};
inline constexpr std::size_t kBlockingThreads = 512, kHeldThreads = 254;
// A release lists the threads whose `mask_emulated` is 1; the injector adds SIGPROF to their masks
// and sets it to 0. State of that exchange: the collector asks, the injector answers; it may be
// answered from the beginning.
enum class Unblocking : std::uint32_t { nothing = 0, asked = 1, answered = 2 };

struct AttachRequest {
  std::uint32_t bytes;     // sizeof(AttachRequest)
  std::uint32_t version;   // kAttachVersion
  std::uint64_t session;   // to begin, or to end
  std::uint32_t answer;    // Attached
  std::uint32_t failure;   // Failure of the control page
  std::int32_t error;      // errno
  std::uint32_t threads;   // sampled
  std::uint32_t blocking;  // not sampled because they block SIGPROF or are in a handler
  std::uint32_t refused;   // not sampled for want of a slot or a timer
  // The injector's memory and code. A borrowed thread may still stand on that memory, which is no
  // thread's stack.
  std::uint64_t borrowed_begin, borrowed_end, code_begin, code_end;
  // The borrowed thread if it is in a handler on a small alternate stack, where it blocks SIGPROF
  // until the handler returns; else 0.
  std::uint32_t in_handler;
  std::uint32_t unbound;  // words and symbols that could not be bound to the collector
  // Descriptor of an experiment's directory that was made for the process, which cannot reach it by
  // path; the collector owns it. -1: the collector makes the directory by `stem`.
  std::int32_t directory_fd = -1;
  // The process's number in the injector's pid namespace.
  std::uint32_t seen_pid;
  char seen_namespace[40];   // that namespace
  char thread_maker[512];    // a load object with a pthread_create of its own, or empty
  char stem[4096];           // /directory/test of test.N.er
  char directory[4096];      // the experiment; filled in beforehand if directory_fd is given
  char library[4096];        // libcollector.so in the injector's view
  std::uint32_t unblocking;  // Unblocking
  std::uint32_t listed;      // entries of `list`
  BlockingThread list[kBlockingThreads];
  // 1: a debugger traces the process and may hold a tick that it has yet to deliver. `held`:
  // threads, by the process's own numbers, that the debugger keeps stopped and for which it holds
  // no tick.
  std::uint32_t debugged;
  std::uint32_t held_count;
  std::uint32_t held[kHeldThreads];
  char settings[kSettingsBytes];  // see settings.h
  // A release: as in the control page, of all recordings of the process.
  std::uint32_t kept_threads, kept_events;
};
static_assert(offsetof(AttachRequest, answer) == 16);
static_assert(offsetof(AttachRequest, in_handler) == 72);
static_assert(offsetof(AttachRequest, stem) == 640);
static_assert(sizeof(AttachRequest) == 640 + 3 * 4096 + 8 + 24 * kBlockingThreads + 8 +
                                           4 * kHeldThreads + kSettingsBytes + 8);

}  // namespace gnomon::format
