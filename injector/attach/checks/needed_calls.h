// The system calls that the collector makes in a process, while it comes in and while it records,
// in any thread. Under seccomp each must be allowed beforehand.
#pragma once
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace gnomon::injector {

struct NeededCall {
  const char* name;
  int number;
  // 0: must be allowed; else an errno that is as good, or kAny for any answer.
  int as_well;
  std::array<std::uint64_t, 6> arguments;
  bool only_handover = false;  // needed only if files are handed over
};
inline constexpr int kAny = -1;

// Stand for arguments that are not known in advance and that filters rarely test.
inline constexpr std::uint64_t kAddress = 0x7f00'0000'0000, kFile = 0x7f00'0000'0001;
inline constexpr std::uint64_t kItself = 0x7f00'0000'0002;  // the process's number
inline constexpr std::uint64_t kHere = static_cast<std::uint32_t>(AT_FDCWD);
inline constexpr std::uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM |
                                              CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                                              CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
// The CPU clock of another thread, for timer_create(2); here of thread 1.
inline constexpr std::uint64_t kThreadClock = static_cast<std::uint32_t>(~1u << 3 | 6);
inline constexpr std::uint64_t kHandingFlags = MSG_CMSG_CLOEXEC | MSG_DONTWAIT;
inline constexpr std::uint64_t kOwn = MAP_PRIVATE | MAP_ANONYMOUS;

inline constexpr std::array kNeededCalls{
    NeededCall{"rt_sigprocmask", SYS_rt_sigprocmask, 0, {2, kAddress, kAddress, 8}},
    NeededCall{"rt_sigaction", SYS_rt_sigaction, 0, {27, kAddress, kAddress, 8}},
    NeededCall{"rt_sigpending", SYS_rt_sigpending, kAny, {kAddress, 8}},
    NeededCall{"rt_sigreturn", SYS_rt_sigreturn, 0, {}},
    NeededCall{"sigaltstack", SYS_sigaltstack, 0, {0, kAddress}},
    NeededCall{"mmap", SYS_mmap, 0, {0, 4096, PROT_READ | PROT_WRITE, kOwn, ~0ull}},
    NeededCall{"mmap", SYS_mmap, 0, {0, 4096, PROT_READ | PROT_EXEC, kOwn, ~0ull}},
    NeededCall{"mmap", SYS_mmap, 0, {0, 4096, PROT_NONE, kOwn | MAP_STACK, ~0ull}},
    NeededCall{"mmap",
               SYS_mmap,
               0,
               {kAddress, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, kFile}},
    NeededCall{"mmap", SYS_mmap, 0, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kFile}},
    NeededCall{"mprotect", SYS_mprotect, 0, {kAddress, 4096, PROT_READ | PROT_WRITE}},
    NeededCall{"munmap", SYS_munmap, 0, {kAddress, 4096}},
    NeededCall{"madvise", SYS_madvise, kAny, {kAddress, 4096, MADV_DONTNEED}},
    NeededCall{"clone3", SYS_clone3, ENOSYS, {kAddress, 88}},
    NeededCall{"clone", SYS_clone, 0, {kThreadFlags, kAddress, kAddress, kAddress, kAddress}},
    NeededCall{"set_robust_list", SYS_set_robust_list, kAny, {kAddress, 24}},
    NeededCall{"rseq", SYS_rseq, kAny, {kAddress, 32, 0, 0x53053053}},
    NeededCall{"exit", SYS_exit, 0, {0}},
    NeededCall{"futex", SYS_futex, 0, {kAddress, FUTEX_WAIT_PRIVATE, 0, 0}},
    NeededCall{"futex", SYS_futex, 0, {kAddress, FUTEX_WAKE_PRIVATE, 1}},
    NeededCall{"sched_yield", SYS_sched_yield, 0, {}},
    NeededCall{"nanosleep", SYS_nanosleep, 0, {kAddress, 0}},
    NeededCall{"clock_nanosleep", SYS_clock_nanosleep, kAny, {CLOCK_REALTIME, 0, kAddress, 0}},
    NeededCall{"gettid", SYS_gettid, 0, {}},
    NeededCall{"getpid", SYS_getpid, 0, {}},
    NeededCall{"uname", SYS_uname, kAny, {kAddress}},
    NeededCall{"getrusage", SYS_getrusage, kAny, {0, kAddress}},
    NeededCall{"getrandom", SYS_getrandom, kAny, {kAddress, 16, 0}},
    NeededCall{"prlimit64", SYS_prlimit64, kAny, {0, RLIMIT_FSIZE, 0, kAddress}},
    NeededCall{"openat", SYS_openat, 0, {kHere, kAddress, O_RDONLY | O_CLOEXEC}},
    NeededCall{
        "openat", SYS_openat, 0, {kHere, kAddress, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC}},
    NeededCall{"openat",
               SYS_openat,
               0,
               {kFile, kAddress, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600}},
    NeededCall{"read", SYS_read, 0, {kFile, kAddress, 4096}},
    NeededCall{"pread64", SYS_pread64, 0, {kFile, kAddress, 4096, 0}},
    NeededCall{"write", SYS_write, 0, {kFile, kAddress, 4096}},
    NeededCall{"pwrite64", SYS_pwrite64, 0, {kFile, kAddress, 4096, 0}},
    NeededCall{"ftruncate", SYS_ftruncate, 0, {kFile, 8192}},
    NeededCall{"lseek", SYS_lseek, 0, {kFile, 0, SEEK_END}},
    NeededCall{"fallocate", SYS_fallocate, EOPNOTSUPP, {kFile, 0, 0, 4096}},
    NeededCall{"newfstatat", SYS_newfstatat, 0, {kFile, kAddress, kAddress, AT_EMPTY_PATH}},
    NeededCall{"getdents64", SYS_getdents64, 0, {kFile, kAddress, 4096}},
    NeededCall{"readlink", SYS_readlink, 0, {kAddress, kAddress, 4096}},
    NeededCall{"mkdir", SYS_mkdir, 0, {kAddress, 0700}},
    NeededCall{"renameat", SYS_renameat, 0, {kFile, kAddress, kFile, kAddress}},
    NeededCall{"unlinkat", SYS_unlinkat, 0, {kFile, kAddress, 0}},
    NeededCall{"close", SYS_close, 0, {kFile}},
    NeededCall{"timer_create", SYS_timer_create, 0, {kThreadClock, kAddress, kAddress}},
    NeededCall{"timer_settime", SYS_timer_settime, 0, {1, 0, kAddress, 0}},
    NeededCall{"timer_delete", SYS_timer_delete, 0, {1}},
    NeededCall{"clock_gettime", SYS_clock_gettime, 0, {CLOCK_THREAD_CPUTIME_ID, kAddress}},
    NeededCall{"clock_gettime", SYS_clock_gettime, 0, {CLOCK_PROCESS_CPUTIME_ID, kAddress}},
    NeededCall{"tgkill", SYS_tgkill, 0, {kItself, 1, 0}},
    NeededCall{
        "socketpair", SYS_socketpair, 0, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, kAddress}, true},
    NeededCall{"poll", SYS_poll, 0, {kAddress, 1, 4000}, true},
    NeededCall{"recvmsg", SYS_recvmsg, 0, {kFile, kAddress, kHandingFlags}, true},
    NeededCall{"prlimit64", SYS_prlimit64, kAny, {0, RLIMIT_NOFILE, kAddress, kAddress}},
    NeededCall{"fcntl", SYS_fcntl, kAny, {kFile, F_DUPFD_CLOEXEC, 1024}},
    NeededCall{"rt_sigtimedwait", SYS_rt_sigtimedwait, 0, {kAddress, kAddress, kAddress, 8}},
};

}  // namespace gnomon::injector
