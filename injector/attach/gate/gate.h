// The gate: code and a data block that are put into a running process to load a library. Any
// thread.
#pragma once
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "injector/attach/gate/gate_offsets.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {

inline constexpr std::uint64_t kExtendedBytes =
    32ull * 1024;  // the largest XSAVE area, AMX included
inline constexpr std::uint64_t kBorrowedStackBytes = 256ull * 1024;

// The data block in the target's memory. Addresses are the target's.
struct Gate {
  std::uint64_t create, detach, open, find, error;  // pthread_create ... dlerror
  std::uint64_t helper;                             // gate_helper
  std::uint64_t thread;
  std::uint64_t all_signals;
  std::uint64_t mask;     // of the borrowed thread
  std::uint64_t created;  // pthread_create's result, valid once `left`
  std::uint64_t left;     // 1: the borrowed thread has returned to where it was
  std::uint64_t helper_tid;
  std::uint64_t handle, function;  // if set, nothing is loaded
  std::uint64_t answer;
  std::uint64_t step;
  char name[64];  // of the function
  char error_text[GATE_ERROR_BYTES];
  format::AttachRequest request;
  std::uint64_t turns;  // rounds that the borrowed thread waits before it goes on
  stack_t alternate;    // of the borrowed thread
  // Files that the process cannot open by their paths are handed to it through a pair of sockets.
  std::int64_t taking;    // TAKING_…
  std::int64_t received;  // bytes, or an errno with its sign changed
  std::int32_t pair[2];
  pollfd awaited;
  msghdr message;
  iovec data;
  std::uint64_t control[sizeof(cmsghdr) / sizeof(std::uint64_t)];
  std::int32_t handed[2];
  char path[GATE_PATH_BYTES];
  // For a borrowed thread in an interrupted system call: the number with which it restarts if a
  // tick has come meanwhile and no other caught signal. 0: it does not restart.
  std::uint64_t restart;
  std::uint64_t caught, pending;  // signals
  std::uint64_t masked;  // 1: the borrowed thread comes with all signals blocked, and `mask` is set
  // The extended state as signal frames have it, 0 bytes: not known.
  std::uint64_t features, state_bytes;
  std::uint64_t context[CONTEXT_BYTES / sizeof(std::uint64_t)];  // where it goes on, a ucontext
  alignas(64) char extended[kExtendedBytes];
};
static_assert(offsetof(Gate, helper) == GATE_HELPER && offsetof(Gate, mask) == GATE_MASK);
static_assert(offsetof(Gate, created) == GATE_CREATED && offsetof(Gate, left) == GATE_LEFT);
static_assert(offsetof(Gate, helper_tid) == GATE_HELPER_TID && offsetof(Gate, step) == GATE_STEP);
static_assert(offsetof(Gate, name) == GATE_NAME);
static_assert(offsetof(Gate, request.library) == GATE_LIBRARY);
static_assert(offsetof(Gate, request.directory_fd) == GATE_DIRECTORY);
static_assert(offsetof(Gate, error_text) == GATE_ERROR_TEXT);
static_assert(offsetof(Gate, request) == GATE_REQUEST);
static_assert(offsetof(Gate, request.in_handler) == GATE_IN_HANDLER);
static_assert(offsetof(Gate, turns) == GATE_TURNS);
static_assert(offsetof(Gate, alternate) == GATE_ALTERNATE && offsetof(stack_t, ss_sp) == 0);
static_assert(offsetof(stack_t, ss_size) == 16);
static_assert(format::kRoomForHandlers == GATE_ROOMY && 1 << (SIGPROF - 1) == GATE_SIGPROF);
static_assert(offsetof(Gate, taking) == GATE_TAKING && offsetof(Gate, pair) == GATE_PAIR);
static_assert(offsetof(Gate, received) == GATE_RECEIVED && offsetof(Gate, path) == GATE_PATH);
static_assert(offsetof(Gate, awaited) == GATE_AWAITED && offsetof(pollfd, fd) == 0);
static_assert(offsetof(Gate, message.msg_controllen) == GATE_CONTROL_LENGTH);
static_assert(offsetof(Gate, control) == GATE_CONTROL && offsetof(Gate, handed) == GATE_HANDED);
static_assert(CMSG_LEN(sizeof(Gate::handed)) == GATE_HANDED_BYTES);
static_assert(offsetof(Gate, restart) == GATE_RESTART && offsetof(Gate, caught) == GATE_CAUGHT);
static_assert(offsetof(Gate, pending) == GATE_PENDING);
static_assert(GATE_RESTART_SYSCALL == SYS_restart_syscall);
static_assert(offsetof(Gate, masked) == GATE_MASKED && offsetof(Gate, context) == GATE_CONTEXT);
static_assert(offsetof(Gate, features) == GATE_FEATURES);
static_assert(offsetof(Gate, state_bytes) == GATE_STATE_BYTES);
static_assert(offsetof(Gate, extended) == GATE_EXTENDED);
static_assert(offsetof(ucontext_t, uc_stack) == CONTEXT_STACK);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_R8]) == CONTEXT_R8);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_R15]) == CONTEXT_R15);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RDI]) == CONTEXT_RDI);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RAX]) == CONTEXT_RAX);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == CONTEXT_RIP);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_EFL]) == CONTEXT_FLAGS);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_CSGSFS]) == CONTEXT_SEGMENTS);
static_assert(offsetof(ucontext_t, uc_mcontext.fpregs) == CONTEXT_STATE);
static_assert(offsetof(ucontext_t, uc_sigmask) == CONTEXT_MASK);

inline constexpr std::uint64_t kGateBytes = sizeof(Gate) + kBorrowedStackBytes;
inline constexpr std::uint64_t kCodeBytes = 64ull * 1024;  // room for the code

// Returns the gate's code for a borrowed thread whose stack pointer is `sp` and which goes on at
// `rip`. gate: address of the data block.
std::vector<char> gate_code(std::uint64_t gate, std::uint64_t sp, std::uint64_t rip);
// Offsets in the code: where a borrowed thread stays, and where the helper thread starts.
std::uint64_t gate_stay_offset();
std::uint64_t gate_helper_offset();

}  // namespace gnomon::injector
