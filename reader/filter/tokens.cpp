// The properties of an event that expressions name. Any thread.
#include "reader/filter/tokens.h"

#include <strings.h>

#include <array>
#include <string>

namespace gnomon::reader {
namespace {

// Studio's names, where it has such a property.
constexpr std::array kTokens{
    Token{"EXPID", TokenSource::experiment, "number of the experiment, from 1"},
    Token{"EXPGRID", TokenSource::experiment, "number of the experiment's group, from 1"},
    Token{"PID", TokenSource::process, "number of the process"},
    Token{"THRID", TokenSource::thread, "number of the thread, as the kernel and LLDB count"},
    Token{"LWPID", TokenSource::thread, "the same"},
    Token{"CPUID", TokenSource::cpu, "number of the CPU; -1: it is not known"},
    Token{"TSTAMP", TokenSource::time, "time since the recording began, ns"},
    Token{"TSTAMP_LO", TokenSource::begin, "when the event began, likewise"},
    Token{"TSTAMP_HI", TokenSource::time, "when the event ended, likewise"},
    Token{"EVT_TIME", TokenSource::field, "how long the event took, ns"},
    Token{"SAMPLE", TokenSource::sample,
          "number of the first sample that was taken after the event, as `samples` lists them"},
    Token{"SAMPLE_MAP", TokenSource::sample, "the same"},
    Token{"MSTATE", TokenSource::field,
          "what the thread did: 1 user, 2 system, 13 one of both, 5 page fault, 7 lock, 8 sleep, "
          "9 wait for a CPU, 10 stopped, 11 other wait, 12 blocked for an unknown reason; 0: it is "
          "not known"},
    Token{"NTICK_NSEC", TokenSource::field, "time that a clock sample stands for, ns"},
    Token{"NTICK_USEC", TokenSource::microseconds, "the same, us"},
    Token{"PARALLELISM", TokenSource::field,
          "how many threads of the process were on a CPU at a clock sample; 0: not known"},
    Token{"HVADDR", TokenSource::field, "address of a block of memory"},
    Token{"HSIZE", TokenSource::field, "size of a block of memory, bytes"},
    Token{"SOBJ", TokenSource::field, "address of what was waited for"},
    Token{"SKIND", TokenSource::field,
          "what was waited for: 1 mutex, 2 read lock, 3 write lock, 4 spin lock, 5 condition, "
          "6 barrier, 7 join, 8 semaphore, 9 futex"},
    Token{"SHOLDER", TokenSource::field, "thread that had it; 0: not known"},
    Token{"IOTYPE", TokenSource::field,
          "what the call did: 1 read, 2 write, 3 open, 4 close, 5 seek, 6 sync, 7 wait, 8 connect, "
          "9 accept, 10 other"},
    Token{"IONBYTE", TokenSource::field, "how many bytes the call moved"},
    Token{"IOERR", TokenSource::field, "errno of the call; 0: it has succeeded"},
    Token{"HWCINT", TokenSource::field, "how many counts an event of a counter stands for"},
    Token{"VADDR", TokenSource::field,
          "address of the data that an event of a counter is about; 0: not told"},
    Token{"WATCH", TokenSource::field, "number of what is watched, of an access or a call"},
    Token{"LEAF", TokenSource::leaf, "the function that ran"},
    kStackToken,
    Token{"USTACK", TokenSource::stack, "the same"},
    Token{"XSTACK", TokenSource::stack, "the same"},
    Token{"MSTACK", TokenSource::stack, "the same"},
};

}  // namespace

std::span<const Token> token_table() { return kTokens; }

std::optional<std::size_t> find_token(std::string_view name) {
  const std::string word(name);
  for (std::size_t i = 0; i < kTokens.size(); ++i)
    if (strcasecmp(kTokens[i].name.data(), word.c_str()) == 0) return i;
  return std::nullopt;
}

}  // namespace gnomon::reader
