// Traced: reading, writing and waiting by descriptors. Normal context.
#include <mqueue.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {
namespace {

using enum IoOperation;

template <typename Signature>
struct OnDescriptor;
template <typename Result, typename... More>
struct OnDescriptor<Result (*)(int, More...)> {
  template <auto& Real, IoOperation Operation, bool MovesBytes>
  static Result traced(int descriptor, More... more) {
    const std::uint64_t since = time_before();
    const Result result = Real(descriptor, more...);
    record_io(GNOMON_OWN_CALL(), io_call(Operation, since, result, MovesBytes), descriptor);
    return result;
  }
};

// What is waited for is many descriptors.
template <typename Signature>
struct OnMany;
template <typename Result, typename... Arguments>
struct OnMany<Result (*)(Arguments...)> {
  template <auto& Real>
  static Result traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const Result result = Real(arguments...);
    record_io(GNOMON_OWN_CALL(), io_call(wait, since, result, false), -1);
    return result;
  }
};

#define GNOMON_MOVES(operation, name, result, ...)                                      \
  constinit NextSymbol<result (*)(int, __VA_ARGS__)> real_##name{#name};                \
  constexpr auto* traced_##name =                                                       \
      OnDescriptor<result (*)(int, __VA_ARGS__)>::traced<real_##name, operation, true>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_ABOUT(operation, name, result, ...)                                             \
  constinit NextSymbol<result (*)(int __VA_OPT__(, ) __VA_ARGS__)> real_##name{#name};         \
  constexpr auto* traced_##name =                                                              \
      OnDescriptor<result (*)(int __VA_OPT__(, ) __VA_ARGS__)>::traced<real_##name, operation, \
                                                                       false>;                 \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_WAITS(name, ...)                                                      \
  constinit NextSymbol<int (*)(__VA_ARGS__)> real_##name{#name};                     \
  constexpr auto* traced_##name = OnMany<int (*)(__VA_ARGS__)>::traced<real_##name>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)

using Bytes = std::size_t;
using Vector = const iovec*;
GNOMON_MOVES(read, read, ssize_t, void*, Bytes);
GNOMON_MOVES(read, pread, ssize_t, void*, Bytes, off_t);
GNOMON_MOVES(read, pread64, ssize_t, void*, Bytes, off64_t);
GNOMON_MOVES(read, readv, ssize_t, Vector, int);
GNOMON_MOVES(read, preadv, ssize_t, Vector, int, off_t);
GNOMON_MOVES(read, preadv64, ssize_t, Vector, int, off64_t);
GNOMON_MOVES(read, preadv2, ssize_t, Vector, int, off_t, int);
GNOMON_MOVES(read, preadv64v2, ssize_t, Vector, int, off64_t, int);
GNOMON_MOVES(read, __read_chk, ssize_t, void*, Bytes, Bytes);
GNOMON_MOVES(read, __pread_chk, ssize_t, void*, Bytes, off_t, Bytes);
GNOMON_MOVES(read, __pread64_chk, ssize_t, void*, Bytes, off64_t, Bytes);
GNOMON_MOVES(read, recv, ssize_t, void*, Bytes, int);
GNOMON_MOVES(read, __recv_chk, ssize_t, void*, Bytes, Bytes, int);
GNOMON_MOVES(read, recvfrom, ssize_t, void*, Bytes, int, sockaddr*, socklen_t*);
GNOMON_MOVES(read, __recvfrom_chk, ssize_t, void*, Bytes, Bytes, int, sockaddr*, socklen_t*);
GNOMON_MOVES(read, recvmsg, ssize_t, msghdr*, int);
GNOMON_MOVES(write, write, ssize_t, const void*, Bytes);
GNOMON_MOVES(write, pwrite, ssize_t, const void*, Bytes, off_t);
GNOMON_MOVES(write, pwrite64, ssize_t, const void*, Bytes, off64_t);
GNOMON_MOVES(write, writev, ssize_t, Vector, int);
GNOMON_MOVES(write, pwritev, ssize_t, Vector, int, off_t);
GNOMON_MOVES(write, pwritev64, ssize_t, Vector, int, off64_t);
GNOMON_MOVES(write, pwritev2, ssize_t, Vector, int, off_t, int);
GNOMON_MOVES(write, pwritev64v2, ssize_t, Vector, int, off64_t, int);
GNOMON_MOVES(write, send, ssize_t, const void*, Bytes, int);
GNOMON_MOVES(write, sendto, ssize_t, const void*, Bytes, int, const sockaddr*, socklen_t);
GNOMON_MOVES(write, sendmsg, ssize_t, const msghdr*, int);
GNOMON_MOVES(read, mq_receive, ssize_t, char*, Bytes, unsigned*);
GNOMON_MOVES(read, mq_timedreceive, ssize_t, char*, Bytes, unsigned*, const timespec*);
GNOMON_ABOUT(seek, lseek, off_t, off_t, int);
GNOMON_ABOUT(seek, lseek64, off64_t, off64_t, int);
GNOMON_ABOUT(sync, fsync, int);
GNOMON_ABOUT(sync, fdatasync, int);
GNOMON_ABOUT(sync, syncfs, int);
GNOMON_ABOUT(sync, sync_file_range, int, off64_t, off64_t, unsigned);
GNOMON_ABOUT(sync, tcdrain, int);
GNOMON_ABOUT(other, readahead, ssize_t, off64_t, Bytes);
GNOMON_ABOUT(other, ftruncate, int, off_t);
GNOMON_ABOUT(other, ftruncate64, int, off64_t);
GNOMON_ABOUT(other, fallocate, int, int, off_t, off_t);
GNOMON_ABOUT(other, fallocate64, int, int, off64_t, off64_t);
GNOMON_ABOUT(other, flock, int, int);
GNOMON_ABOUT(other, lockf, int, int, off_t);
GNOMON_ABOUT(other, lockf64, int, int, off64_t);
GNOMON_ABOUT(other, shutdown, int, int);
GNOMON_ABOUT(other, bind, int, const sockaddr*, socklen_t);
GNOMON_ABOUT(other, listen, int, int);
GNOMON_ABOUT(wait, epoll_wait, int, epoll_event*, int, int);
GNOMON_ABOUT(wait, epoll_pwait, int, epoll_event*, int, int, const sigset_t*);
GNOMON_ABOUT(wait, epoll_pwait2, int, epoll_event*, int, const timespec*, const sigset_t*);
GNOMON_WAITS(poll, pollfd*, nfds_t, int);
GNOMON_WAITS(__poll_chk, pollfd*, nfds_t, int, Bytes);
GNOMON_WAITS(ppoll, pollfd*, nfds_t, const timespec*, const sigset_t*);
GNOMON_WAITS(__ppoll_chk, pollfd*, nfds_t, const timespec*, const sigset_t*, Bytes);
GNOMON_WAITS(select, int, fd_set*, fd_set*, fd_set*, timeval*);
GNOMON_WAITS(pselect, int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*);

// Locks of files wait in it. Its third argument is a number or a pointer; reading it does no harm
// where none was passed.
#define GNOMON_CONTROLS(Command, name)                                              \
  constinit NextSymbol<int (*)(int, Command, ...)> real_##name{#name};              \
  int traced_##name(int descriptor, Command command, ...) {                         \
    std::va_list more;                                                              \
    va_start(more, command);                                                        \
    void* const argument = va_arg(more, void*);                                     \
    va_end(more);                                                                   \
    const std::uint64_t since = time_before();                                      \
    const int result = real_##name(descriptor, command, argument);                  \
    record_io(GNOMON_OWN_CALL(), io_call(other, since, result, false), descriptor); \
    return result;                                                                  \
  }                                                                                 \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
GNOMON_CONTROLS(int, fcntl);
GNOMON_CONTROLS(int, fcntl64);
GNOMON_CONTROLS(unsigned long, ioctl);

// These return the error's number, and errno is left alone.
#define GNOMON_RESERVES(name, Offset)                                    \
  constinit NextSymbol<int (*)(int, Offset, Offset)> real_##name{#name}; \
  int traced_##name(int descriptor, Offset begin, Offset bytes) {        \
    const std::uint64_t since = time_before();                           \
    const int error = real_##name(descriptor, begin, bytes);             \
    IoCall done = io_call(other, since, 0, false);                       \
    done.error = error;                                                  \
    record_io(GNOMON_OWN_CALL(), done, descriptor);                      \
    return error;                                                        \
  }                                                                      \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
GNOMON_RESERVES(posix_fallocate, off_t);
GNOMON_RESERVES(posix_fallocate64, off64_t);

// What they write out is of many files, or of memory.
constinit NextSymbol<void (*)()> real_sync{"sync"};
void traced_sync() {
  const std::uint64_t since = time_before();
  real_sync();
  record_io(GNOMON_OWN_CALL(), io_call(sync, since, 0, false), -1);
}
constinit NextSymbol<int (*)(void*, Bytes, int)> real_msync{"msync"};
int traced_msync(void* memory, Bytes bytes, int flags) {
  const std::uint64_t since = time_before();
  const int result = real_msync(memory, bytes, flags);
  record_io(GNOMON_OWN_CALL(), io_call(sync, since, result, false), -1);
  return result;
}
GNOMON_TRACED(HookGroup::io, traced_sync, real_sync);
GNOMON_TRACED(HookGroup::io, traced_msync, real_msync);

}  // namespace
}  // namespace gnomon::collector
