// Traced: calls that move bytes between two descriptors, several messages at once, or whole values.
// Normal context.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "libcollector/core/syscall.h"
#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {
namespace {

using enum IoOperation;
using Bytes = std::size_t;

// The bytes count at each end, the time at the end that is written to. A call that has failed
// counts there alone.
void record_ends(const Call& call, const IoCall& done, int from, int to) {
  record_io(call, done, to);
  if (done.error != 0) return;
  IoCall other = done;
  other.operation = read;
  other.since = done.until;
  record_io(call, other, from);
}

template <typename Move>
auto traced_move(const Call& call, int from, int to, Move move) {
  const std::uint64_t since = time_before();
  const auto result = move();
  record_ends(call, io_call(write, since, result, true), from, to);
  return result;
}

#define GNOMON_BETWEEN(name, result, parameters, ...)                                          \
  constinit NextSymbol<result(*) parameters> real_##name{#name};                               \
  result traced_##name parameters {                                                            \
    return traced_move(GNOMON_OWN_CALL(), from, to, [&] { return real_##name(__VA_ARGS__); }); \
  }                                                                                            \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
GNOMON_BETWEEN(sendfile, ssize_t, (int to, int from, off_t* at, Bytes bytes), to, from, at, bytes);
GNOMON_BETWEEN(sendfile64, ssize_t, (int to, int from, off64_t* at, Bytes bytes), to, from, at,
               bytes);
GNOMON_BETWEEN(copy_file_range, ssize_t,
               (int from, off64_t* at, int to, off64_t* to_at, Bytes bytes, unsigned flags), from,
               at, to, to_at, bytes, flags);
GNOMON_BETWEEN(splice, ssize_t,
               (int from, off64_t* at, int to, off64_t* to_at, Bytes bytes, unsigned flags), from,
               at, to, to_at, bytes, flags);
GNOMON_BETWEEN(tee, ssize_t, (int from, int to, Bytes bytes, unsigned flags), from, to, bytes,
               flags);

// Into a pipe or out of it, by the end that the descriptor is.
constinit NextSymbol<ssize_t (*)(int, const iovec*, Bytes, unsigned)> real_vmsplice{"vmsplice"};
ssize_t traced_vmsplice(int descriptor, const iovec* pieces, Bytes count, unsigned flags) {
  const std::uint64_t since = time_before();
  const ssize_t result = real_vmsplice(descriptor, pieces, count, flags);
  const Call call = GNOMON_OWN_CALL();
  IoCall done = io_call(write, since, result, true);
  if (is_tracing()) {
    const long status = raw_syscall(SYS_fcntl, descriptor, F_GETFL);
    if (status >= 0 && (status & O_ACCMODE) == O_RDONLY) done.operation = read;
  }
  record_io(call, done, descriptor);
  return result;
}
GNOMON_TRACED(HookGroup::io, traced_vmsplice, real_vmsplice);

// The kernel notes in each message how much it moved.
template <typename Move>
int traced_messages(const Call& call, IoOperation operation, int descriptor,
                    const mmsghdr* messages, Move move) {
  const std::uint64_t since = time_before();
  const int count = move();
  IoCall done = io_call(operation, since, count, false);
  for (int i = 0; i < count; ++i) done.bytes += messages[i].msg_len;
  record_io(call, done, descriptor);
  return count;
}
constinit NextSymbol<int (*)(int, mmsghdr*, unsigned, int, timespec*)> real_recvmmsg{"recvmmsg"};
int traced_recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* limit) {
  return traced_messages(GNOMON_OWN_CALL(), read, descriptor, messages,
                         [&] { return real_recvmmsg(descriptor, messages, count, flags, limit); });
}
constinit NextSymbol<int (*)(int, mmsghdr*, unsigned, int)> real_sendmmsg{"sendmmsg"};
int traced_sendmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags) {
  return traced_messages(GNOMON_OWN_CALL(), write, descriptor, messages,
                         [&] { return real_sendmmsg(descriptor, messages, count, flags); });
}
GNOMON_TRACED(HookGroup::io, traced_recvmmsg, real_recvmmsg);
GNOMON_TRACED(HookGroup::io, traced_sendmmsg, real_sendmmsg);

// A call that moves all of something or fails.
template <typename Move>
int traced_whole(const Call& call, IoOperation operation, int descriptor, Bytes bytes, Move move) {
  const std::uint64_t since = time_before();
  const int result = move();
  IoCall done = io_call(operation, since, result, false);
  if (result == 0) done.bytes = bytes;
  record_io(call, done, descriptor);
  return result;
}
#define GNOMON_WHOLE(operation, name, bytes, parameters, ...)            \
  constinit NextSymbol<int(*) parameters> real_##name{#name};            \
  int traced_##name parameters {                                         \
    return traced_whole(GNOMON_OWN_CALL(), operation, descriptor, bytes, \
                        [&] { return real_##name(__VA_ARGS__); });       \
  }                                                                      \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
GNOMON_WHOLE(read, eventfd_read, sizeof(eventfd_t), (int descriptor, eventfd_t* value), descriptor,
             value);
GNOMON_WHOLE(write, eventfd_write, sizeof(eventfd_t), (int descriptor, eventfd_t value), descriptor,
             value);
GNOMON_WHOLE(write, mq_send, bytes,
             (mqd_t descriptor, const char* message, Bytes bytes, unsigned priority), descriptor,
             message, bytes, priority);
GNOMON_WHOLE(write, mq_timedsend, bytes,
             (mqd_t descriptor, const char* message, Bytes bytes, unsigned priority,
              const timespec* limit),
             descriptor, message, bytes, priority, limit);

}  // namespace
}  // namespace gnomon::collector
