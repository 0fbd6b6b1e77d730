// Lists and awaits the threads of this process by /proc. Normal context: raw system calls.
#include "libcollector/core/kernel_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "libcollector/core/own_descriptors.h"
#include "libcollector/core/proc_status.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"

namespace gnomon::collector {
namespace {

// Returns the state letter of proc_pid_status(5), or '\0' if the thread has ended.
char state_of(std::uint32_t tid) {
  ProcStatus status;
  const char* state = status.read(tid) ? status.find("State") : nullptr;
  return state ? *state : '\0';
}

struct Wait {
  bool (*is_exempt)(std::uint32_t tid, const void* data);
  const void* data;
  std::uint32_t own;
  std::uint64_t limit;  // CLOCK_MONOTONIC, ns
  bool is_in_time;
};

// A thread resumed by its tracer handles the pending signal before it returns to user code or
// sleeps.
void await(std::uint32_t tid, void* data) {
  constexpr std::uint64_t kEnough = 100'000;  // ns of CPU time
  auto& wait = *static_cast<Wait*>(data);
  if (tid == wait.own || wait.is_exempt(tid, wait.data)) return;
  const clockid_t clock = cpu_clock_of(tid);
  std::uint64_t held_until = now(clock);
  for (char state; wait.is_in_time; raw_syscall(SYS_sched_yield)) {
    state = state_of(tid);
    if (state == 't')
      held_until = now(clock);
    else if (state != 'R' || now(clock) > held_until + kEnough)
      return;
    wait.is_in_time = now(CLOCK_MONOTONIC) < wait.limit;
  }
}

std::uint32_t number(const char* digits) {
  std::uint32_t value = 0;
  for (; *digits >= '0' && *digits <= '9'; ++digits)
    value = value * 10 + static_cast<std::uint32_t>(*digits - '0');
  return value;
}

// The threads of this process, in memory that grows.
class Tasks {
 public:
  Tasks() = default;
  ~Tasks() {
    if (tids_) raw_syscall(SYS_munmap, arg(tids_), room_ * kEach);
  }
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // Returns false if /proc/self/task cannot be read or memory is short. Within
  // with_own_descriptors().
  bool read() {
    const long folder = raw_syscall(SYS_openat, AT_FDCWD, arg("/proc/self/task"),
                                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return false;
    alignas(dirent64) char entries[4096] = {};
    bool fits = true;
    for (long n;
         fits && (n = raw_syscall(SYS_getdents64, folder, arg(entries), sizeof entries)) > 0;)
      for (long at = 0; at < n && fits;) {
        const auto& entry = *reinterpret_cast<const dirent64*>(entries + at);
        fits = take(number(entry.d_name));
        at += entry.d_reclen;
      }
    raw_syscall(SYS_close, folder);
    return fits;
  }
  const std::uint32_t* begin() const { return tids_; }
  const std::uint32_t* end() const { return tids_ + count_; }

 private:
  static constexpr long kEach = sizeof(std::uint32_t);

  // The thread that reads is the collector's, unless none could be made.
  bool take(std::uint32_t tid) {
    if (tid == 0 || (tid == reader_ && tid != program_thread())) return true;
    return add(tid);
  }

  bool add(std::uint32_t tid) {
    if (count_ == room_ && !grow()) return false;
    tids_[count_++] = tid;
    return true;
  }

  bool grow() {
    constexpr long kFirstRoom = 1024;
    const long room = room_ == 0 ? kFirstRoom : 2 * room_;
    const long at =
        tids_ ? raw_syscall(SYS_mremap, arg(tids_), room_ * kEach, room * kEach, MREMAP_MAYMOVE)
              : raw_syscall(SYS_mmap, 0, room * kEach, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096) return false;
    tids_ = reinterpret_cast<std::uint32_t*>(at);
    room_ = room;
    return true;
  }

  const std::uint32_t reader_ = static_cast<std::uint32_t>(raw_syscall(SYS_gettid));
  std::uint32_t* tids_ = nullptr;
  long count_ = 0, room_ = 0;
};

}  // namespace

bool visit_tasks(void (*visit)(std::uint32_t tid, void* data), void* data) {
  bool is_read = false;
  with_own_descriptors([&] {
    Tasks tasks;
    is_read = tasks.read();
    if (!is_read) return;
    for (const std::uint32_t tid : tasks) visit(tid, data);
  });
  return is_read;
}

Pending pending_sigprof() {
  Pending found{};
  visit_tasks(
      [](std::uint32_t tid, void* data) {
        ProcStatus status;
        if (!status.read(tid)) return;
        constexpr std::uint64_t kSigprof = signal_bit(SIGPROF);
        auto& [at_thread, at_process] = *static_cast<Pending*>(data);
        at_thread = at_thread || status.mask("SigPnd") & kSigprof;
        at_process = at_process || status.mask("ShdPnd") & kSigprof;
      },
      &found);
  return found;
}

bool await_handed_signals(bool (*is_exempt)(std::uint32_t tid, const void* data), const void* data,
                          std::uint64_t patience) {
  Wait wait{is_exempt, data, program_thread(), now(CLOCK_MONOTONIC) + patience, true};
  visit_tasks(await, &wait);
  return wait.is_in_time;
}

}  // namespace gnomon::collector
