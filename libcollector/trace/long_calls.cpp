// Traced: calls that wait, and are told only if that was long. Normal context.
#include "libcollector/trace/long_calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "libcollector/hook/hook.h"
#include "libcollector/record/thread_notes.h"
#include "libcollector/trace/tracer.h"

namespace gnomon::collector {
namespace {

using format::ThreadState;

constinit LongWaits long_waits = {};

template <typename Signature>
struct Timed;
template <typename Result, typename... Arguments>
struct Timed<Result (*)(Arguments...)> {
  template <auto& Real, ThreadState State>
  static Result traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const Result result = Real(arguments...);
    const std::uint64_t until = time_after();
    if (is_to_tell(since, until)) tell_long_call(GNOMON_OWN_CALL(), since, until, State);
    return result;
  }
};

#define GNOMON_TIMED(group, state, name, result, ...)                          \
  constinit NextSymbol<result (*)(__VA_ARGS__)> real_##name{#name};            \
  constexpr auto* traced_##name =                                              \
      Timed<result (*)(__VA_ARGS__)>::traced<real_##name, ThreadState::state>; \
  GNOMON_TRACED(HookGroup::group, traced_##name, real_##name)

using Bytes = std::size_t;
GNOMON_TIMED(pauses, sleep, sleep, unsigned, unsigned);
GNOMON_TIMED(pauses, sleep, usleep, int, useconds_t);
GNOMON_TIMED(pauses, sleep, nanosleep, int, const timespec*, timespec*);
GNOMON_TIMED(pauses, sleep, clock_nanosleep, int, clockid_t, int, const timespec*, timespec*);
GNOMON_TIMED(pauses, sleep, thrd_sleep, int, const timespec*, timespec*);
GNOMON_TIMED(pauses, other_wait, pause, int);
GNOMON_TIMED(pauses, other_wait, wait, pid_t, int*);
GNOMON_TIMED(pauses, other_wait, waitpid, pid_t, pid_t, int*, int);
GNOMON_TIMED(pauses, other_wait, wait4, pid_t, pid_t, int*, int, rusage*);
GNOMON_TIMED(pauses, other_wait, waitid, int, idtype_t, id_t, siginfo_t*, int);
GNOMON_TIMED(pauses, other_wait, sigwait, int, const sigset_t*, int*);
GNOMON_TIMED(pauses, other_wait, sigwaitinfo, int, const sigset_t*, siginfo_t*);
GNOMON_TIMED(pauses, other_wait, sigtimedwait, int, const sigset_t*, siginfo_t*, const timespec*);
GNOMON_TIMED(calls, other_wait, read, ssize_t, int, void*, Bytes);
GNOMON_TIMED(calls, other_wait, __read_chk, ssize_t, int, void*, Bytes, Bytes);
GNOMON_TIMED(calls, other_wait, readv, ssize_t, int, const iovec*, int);
GNOMON_TIMED(calls, other_wait, pread64, ssize_t, int, void*, Bytes, off64_t);
GNOMON_TIMED(calls, other_wait, recv, ssize_t, int, void*, Bytes, int);
GNOMON_TIMED(calls, other_wait, recvfrom, ssize_t, int, void*, Bytes, int, sockaddr*, socklen_t*);
GNOMON_TIMED(calls, other_wait, recvmsg, ssize_t, int, msghdr*, int);
GNOMON_TIMED(calls, other_wait, write, ssize_t, int, const void*, Bytes);
GNOMON_TIMED(calls, other_wait, send, ssize_t, int, const void*, Bytes, int);
GNOMON_TIMED(calls, other_wait, sendmsg, ssize_t, int, const msghdr*, int);
GNOMON_TIMED(calls, other_wait, accept, int, int, sockaddr*, socklen_t*);
GNOMON_TIMED(calls, other_wait, accept4, int, int, sockaddr*, socklen_t*, int);
GNOMON_TIMED(calls, other_wait, connect, int, int, const sockaddr*, socklen_t);
GNOMON_TIMED(calls, other_wait, poll, int, pollfd*, nfds_t, int);
GNOMON_TIMED(calls, other_wait, __poll_chk, int, pollfd*, nfds_t, int, Bytes);
GNOMON_TIMED(calls, other_wait, ppoll, int, pollfd*, nfds_t, const timespec*, const sigset_t*);
GNOMON_TIMED(calls, other_wait, select, int, int, fd_set*, fd_set*, fd_set*, timeval*);
GNOMON_TIMED(calls, other_wait, pselect, int, int, fd_set*, fd_set*, fd_set*, const timespec*,
             const sigset_t*);
GNOMON_TIMED(calls, other_wait, epoll_wait, int, int, epoll_event*, int, int);
GNOMON_TIMED(calls, other_wait, epoll_pwait, int, int, epoll_event*, int, int, const sigset_t*);
GNOMON_TIMED(calls, other_wait, fsync, int, int);
GNOMON_TIMED(calls, other_wait, fdatasync, int, int);
GNOMON_TIMED(calls, other_wait, flock, int, int, int);

}  // namespace

namespace {

void begin(std::uint64_t setting, Recorder& to) {
  tells_long_calls = setting != 0;
  if (tells_long_calls) long_waits.open(to.directory());
}

GNOMON_TRACER(waits, begin);

}  // namespace

void tell_long_call(TracedCall& traced, std::uint64_t since, std::uint64_t until,
                    ThreadState state) {
  if (const std::uint32_t stack = traced.stack(); stack != 0 && traced.is_recorded())
    long_waits.put(traced.thread(), {since, until, stack, static_cast<std::uint32_t>(state)});
}

void tell_long_call(const Call& call, std::uint64_t since, std::uint64_t until, ThreadState state) {
  if (TracedCall traced(call); traced) tell_long_call(traced, since, until, state);
}

}  // namespace gnomon::collector
