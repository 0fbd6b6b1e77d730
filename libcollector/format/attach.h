// What the injector and the collector say to each other when recording begins in a running process.
// Plain struct in memory of the program.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gnomon::format {

// The function of libcollector.so that is given an AttachRequest, in a thread made for it with all
// signals blocked: int gnomon_attach(AttachRequest*).
inline constexpr const char* kAttachFunction = "gnomon_attach";
// Ends what that began, and gives the process back what the collector had of it. Called likewise.
inline constexpr const char* kReleaseFunction = "gnomon_release";
inline constexpr std::uint32_t kAttachVersion = 8;

// Data of libcollector.so: HookedFunction[kHooks], unused ones 0. Once the program is bound to the
// collector, libc's own symbol table says `ours`.
inline constexpr const char* kHookTable = "gnomon_hook_table";
inline constexpr std::size_t kHooks = 64;
struct HookedFunction {
  std::uint64_t replacement, original;
};

// Bytes of an alternate signal stack on which a tick finds room beside a handler, whatever that
// needs itself: as much as Go's runtime gives to handlers.
inline constexpr std::uint64_t kRoomForHandlers = 32ull * 1024;

// The sentence for each stands in kRefusals.
enum class Attached : std::uint32_t {
  no_answer = 0,
  recording = 1,
  already = 2,  // `directory` is where to
  other_version = 3,
  no_directory = 4,  // `error`: why
  failed = 5,        // `failure`: why
  old_libc = 6,
  released = 7,
  still_holds_masks = 8,  // `blocking` threads go on being sampled, as far as signals go
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
                "use the Gnomon that it belongs to, or start the program again"},
    RefusalText{
        Attached::old_libc,
        "its libc (older than 2.35) does not tell a running process which code was unloaded",
        "start the program from the debugger instead"},
    RefusalText{Attached::still_holds_masks,
                "some of its threads believe to block SIGPROF, and could not be made to", ""},
    RefusalText{Attached::still_holds_clocks, "a clock of the collector's could not be stopped",
                ""},
    RefusalText{Attached::still_holds_signal,
                "a debugger holds a thread of it, which may yet be handed a tick of the clock", ""},
    RefusalText{Attached::still_ending,
                "a debugger holds the thread of it that is about to end the earlier recording",
                "let it run, and repeat"},
};

// A thread that goes on blocking SIGPROF, as many programs' workers do for all their life. When the
// injector takes SIGPROF out of its mask, `mask_emulated` becomes 1: the program goes on believing
// it.
struct BlockingThread {
  std::uint64_t slot;  // address of a std::uint32_t that says `tid` as long as the rest is true
  std::uint64_t mask_emulated;  // address of a std::uint32_t
  std::uint32_t tid;
  std::uint32_t reachable;  // 1: the injector knows that it does not block SIGPROF, or not any more
};
inline constexpr std::size_t kBlockingThreads = 512, kHeldThreads = 254;
// A release lists those whose `mask_emulated` is 1: they get SIGPROF into their masks, and it
// becomes 0. What the collector waits for meanwhile; nothing if it is answered from the beginning.
enum class Unblocking : std::uint32_t { nothing = 0, asked = 1, answered = 2 };

struct AttachRequest {
  std::uint32_t bytes;     // sizeof(AttachRequest)
  std::uint32_t version;   // kAttachVersion
  std::uint64_t session;   // to begin, or to end
  std::uint64_t interval;  // ns of CPU time
  std::uint32_t answer;    // Attached
  std::uint32_t failure;   // Failure of the control page
  std::int32_t error;      // errno
  std::uint32_t threads;   // sampled
  std::uint32_t blocking;  // not sampled: they block SIGPROF, or are in a handler
  std::uint32_t refused;   // not sampled: no slot, or no timer
  // Memory of the injector's, on which a borrowed thread may still stand: nobody's stack. Its code
  // may run on a thread's own.
  std::uint64_t borrowed_begin, borrowed_end, code_begin, code_end;
  // The borrowed thread, if it is in a handler on a small alternate stack: it blocks SIGPROF until
  // that returns. 0: it is not.
  std::uint32_t in_handler;
  std::uint32_t unbound;  // places of the program's that could not be bound to the collector
  // An experiment's directory that was made for the process, which cannot reach it by its path: its
  // descriptor, which the collector owns. -1: none, it is to be made by `stem`.
  std::int32_t directory_fd = -1;
  // The process's number, where the injector is.
  std::uint32_t seen_pid;
  char seen_namespace[40];   // the pid namespace that this is
  char thread_maker[512];    // a load object with a pthread_create of its own; empty: none
  char stem[4096];           // /directory/test of test.N.er
  char directory[4096];      // the experiment; known beforehand with directory_fd
  char library[4096];        // libcollector.so, where the injector is
  std::uint32_t unblocking;  // Unblocking
  std::uint32_t listed;      // in `list`
  BlockingThread list[kBlockingThreads];
  // 1: a debugger is there, which may have taken a tick from a thread's queue to hand it on. `held`
  // are threads that it keeps where they are meanwhile, with none; by the process's own numbers.
  std::uint32_t debugged;
  std::uint32_t held_count;
  std::uint32_t held[kHeldThreads];
};
static_assert(offsetof(AttachRequest, answer) == 24);
static_assert(offsetof(AttachRequest, in_handler) == 80);
static_assert(offsetof(AttachRequest, stem) == 648);
static_assert(sizeof(AttachRequest) ==
              648 + 3 * 4096 + 8 + 24 * kBlockingThreads + 8 + 4 * kHeldThreads);

}  // namespace gnomon::format
