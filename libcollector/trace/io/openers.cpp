// Traced: opening, connecting and closing descriptors. Normal context.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {
namespace {

using enum IoOperation;

template <typename Signature>
struct Opener;
template <typename... Arguments>
struct Opener<int (*)(Arguments...)> {
  template <auto& Real, IoOperation Operation>
  static int traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const int descriptor = Real(arguments...);
    record_open(GNOMON_OWN_CALL(), io_call(Operation, since, descriptor, false), descriptor,
                path_in(arguments...));
    return descriptor;
  }
};

#define GNOMON_OPENS_BY(operation, name, ...)                                                   \
  constinit NextSymbol<int (*)(__VA_ARGS__)> real_##name{#name};                                \
  constexpr auto* traced_##name = Opener<int (*)(__VA_ARGS__)>::traced<real_##name, operation>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_OPENS(name, ...) GNOMON_OPENS_BY(open, name, __VA_ARGS__)

GNOMON_OPENS(creat, const char*, mode_t);
GNOMON_OPENS(creat64, const char*, mode_t);
GNOMON_OPENS(__open_2, const char*, int);
GNOMON_OPENS(__open64_2, const char*, int);
GNOMON_OPENS(__openat_2, int, const char*, int);
GNOMON_OPENS(__openat64_2, int, const char*, int);
GNOMON_OPENS(mkstemp, char*);
GNOMON_OPENS(mkstemp64, char*);
GNOMON_OPENS(mkostemp, char*, int);
GNOMON_OPENS(mkostemp64, char*, int);
GNOMON_OPENS(mkstemps, char*, int);
GNOMON_OPENS(mkstemps64, char*, int);
GNOMON_OPENS(mkostemps, char*, int, int);
GNOMON_OPENS(mkostemps64, char*, int, int);
GNOMON_OPENS(shm_open, const char*, int, mode_t);
GNOMON_OPENS(posix_openpt, int);
GNOMON_OPENS(getpt, void);
GNOMON_OPENS(open_by_handle_at, int, file_handle*, int);
GNOMON_OPENS(socket, int, int, int);
GNOMON_OPENS(memfd_create, const char*, unsigned);
GNOMON_OPENS(eventfd, unsigned, int);
GNOMON_OPENS(epoll_create, int);
GNOMON_OPENS(epoll_create1, int);
GNOMON_OPENS(timerfd_create, clockid_t, int);
GNOMON_OPENS(signalfd, int, const sigset_t*, int);
GNOMON_OPENS(fanotify_init, unsigned, unsigned);
GNOMON_OPENS(pidfd_open, pid_t, unsigned);
GNOMON_OPENS(pidfd_getfd, int, int, unsigned);
GNOMON_OPENS(inotify_init, void);
GNOMON_OPENS(inotify_init1, int);
GNOMON_OPENS(dup, int);
GNOMON_OPENS(dup2, int, int);
GNOMON_OPENS(dup3, int, int, int);
GNOMON_OPENS_BY(accept, accept, int, sockaddr*, socklen_t*);
GNOMON_OPENS_BY(accept, accept4, int, sockaddr*, socklen_t*, int);

// The mode counts only where a file is made; reading it does no harm where none was passed.
#define GNOMON_OPENS_WITH_MODE(name)                                                           \
  constinit NextSymbol<int (*)(const char*, int, ...)> real_##name{#name};                     \
  int traced_##name(const char* path, int flags, ...) {                                        \
    std::va_list more;                                                                         \
    va_start(more, flags);                                                                     \
    const mode_t mode = va_arg(more, mode_t);                                                  \
    va_end(more);                                                                              \
    const std::uint64_t since = time_before();                                                 \
    const int descriptor = real_##name(path, flags, mode);                                     \
    record_open(GNOMON_OWN_CALL(), io_call(open, since, descriptor, false), descriptor, path); \
    return descriptor;                                                                         \
  }                                                                                            \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
#define GNOMON_OPENS_AT_WITH_MODE(name)                                                        \
  constinit NextSymbol<int (*)(int, const char*, int, ...)> real_##name{#name};                \
  int traced_##name(int directory, const char* path, int flags, ...) {                         \
    std::va_list more;                                                                         \
    va_start(more, flags);                                                                     \
    const mode_t mode = va_arg(more, mode_t);                                                  \
    va_end(more);                                                                              \
    const std::uint64_t since = time_before();                                                 \
    const int descriptor = real_##name(directory, path, flags, mode);                          \
    record_open(GNOMON_OWN_CALL(), io_call(open, since, descriptor, false), descriptor, path); \
    return descriptor;                                                                         \
  }                                                                                            \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)

GNOMON_OPENS_WITH_MODE(open);
GNOMON_OPENS_WITH_MODE(open64);
GNOMON_OPENS_AT_WITH_MODE(openat);
GNOMON_OPENS_AT_WITH_MODE(openat64);

// Two descriptors at once; the call counts for the first.
template <typename Signature>
struct PairOpener;
template <typename... Arguments>
struct PairOpener<int (*)(Arguments...)> {
  template <auto& Real>
  static int traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const int result = Real(arguments...);
    const IoCall done = io_call(open, since, result, false);
    const int* const made = result == 0 ? made_in(arguments...) : nullptr;
    if (made) forget_file(made[1]);
    record_open(GNOMON_OWN_CALL(), done, made ? made[0] : -1, nullptr);
    return result;
  }
  static const int* made_in(int* pair) { return pair; }
  static const int* made_in(int* pair, int) { return pair; }
  static const int* made_in(int, int, int, int* pair) { return pair; }
};

#define GNOMON_OPENS_TWO(name, ...)                                                      \
  constinit NextSymbol<int (*)(__VA_ARGS__)> real_##name{#name};                         \
  constexpr auto* traced_##name = PairOpener<int (*)(__VA_ARGS__)>::traced<real_##name>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)
GNOMON_OPENS_TWO(pipe, int*);
GNOMON_OPENS_TWO(pipe2, int*, int);
GNOMON_OPENS_TWO(socketpair, int, int, int, int*);

constinit NextSymbol<int (*)(int, const sockaddr*, socklen_t)> real_connect{"connect"};

// From then on the socket is known by its peer.
int traced_connect(int descriptor, const sockaddr* peer, socklen_t bytes) {
  const std::uint64_t since = time_before();
  const int result = real_connect(descriptor, peer, bytes);
  const IoCall done = io_call(connect, since, result, false);
  const bool is_known = result == 0 || done.error == EINPROGRESS || done.error == EISCONN;
  if (TracedCall traced(GNOMON_OWN_CALL()); traced)
    record_io(
        traced, done,
        is_known ? file_of_peer(traced, descriptor, peer, bytes) : file_of(traced, descriptor));
  return result;
}

constinit NextSymbol<int (*)(int)> real_close{"close"};

// Another thread may be given the number before the call returns: it is forgotten before.
int traced_close(int descriptor) {
  const Call call = GNOMON_OWN_CALL();
  const std::uint32_t file = known_file(descriptor);
  forget_file(descriptor);
  const std::uint64_t since = time_before();
  const int result = real_close(descriptor);
  const IoCall done = io_call(close, since, result, false);
  if (is_inside_stream(call)) return result;
  if (TracedCall traced(call); traced) record_io(traced, done, file);
  return result;
}

constinit NextSymbol<int (*)(unsigned, unsigned, int)> real_close_range{"close_range"};

int traced_close_range(unsigned first, unsigned last, int flags) {
  constexpr unsigned kMost = 65'536;
  if (flags == 0)
    for (unsigned i = first; i <= last && i < kMost; ++i) forget_file(static_cast<int>(i));
  const std::uint64_t since = time_before();
  const int result = real_close_range(first, last, flags);
  record_io(GNOMON_OWN_CALL(), io_call(close, since, result, false), -1);
  return result;
}

GNOMON_TRACED(HookGroup::io, traced_connect, real_connect);
GNOMON_TRACED(HookGroup::io, traced_close, real_close);
GNOMON_TRACED(HookGroup::io, traced_close_range, real_close_range);

}  // namespace
}  // namespace gnomon::collector
