// Interposed: fork, vfork, clone, system, popen and daemon, which start a child process. Children
// are not recorded, but counted. Normal context; fork also in signal handlers.
#include "libcollector/program/children.h"

#include <linux/sched.h>
#include <stdio.h>
#include <sys/types.h>

#include "libcollector/core/atomic.h"
#include "libcollector/core/signal_action.h"
#include "libcollector/hook/hook.h"
#include "libcollector/program/jump_after.h"
#include "libcollector/program/signal_masks.h"
#include "libcollector/target/recording.h"
#include "libcollector/trace/sharing.h"

namespace gnomon::collector {
namespace {

constinit NextSymbol<pid_t (*)()> real_fork{"fork", "GLIBC_2.2.5"};
constinit NextSymbol<pid_t (*)()> real_vfork{"vfork", "GLIBC_2.2.5"};
constinit NextSymbol<int (*)(int (*)(void*), void*, int, void*, ...)> real_clone{"clone",
                                                                                 "GLIBC_2.2.5"};
constinit NextSymbol<int (*)(const char*)> real_system{"system", "GLIBC_2.2.5"};
constinit NextSymbol<FILE* (*)(const char*, const char*)> real_popen{"popen", "GLIBC_2.2.5"};
constinit NextSymbol<int (*)(int, int)> real_daemon{"daemon", "GLIBC_2.2.5"};

}  // namespace

void count_child() {
  if (format::ControlPage* control = own_control()) atomic(control->children).fetch_add(1);
}

void before_clone(std::uint64_t flags, bool on_own_stack) {
  if ((flags & CLONE_THREAD) != 0) return;
  count_child();
  if ((flags & CLONE_VM) != 0) note_sharing_child(on_own_stack && (flags & CLONE_VFORK) != 0);
}

// Returns the function to which the call continues, as does gnomon_before_clone().
extern "C" [[gnu::used, gnu::visibility("hidden")]] void* gnomon_before_vfork() {
  before_clone(CLONE_VM | CLONE_VFORK, true);
  return reinterpret_cast<void*>(real_vfork.get());
}
extern "C" [[gnu::used, gnu::visibility("hidden")]] void* gnomon_before_clone(void*, void*,
                                                                              int flags) {
  before_clone(static_cast<unsigned>(flags), false);
  return reinterpret_cast<void*>(real_clone.get());
}

extern "C" {

GNOMON_EXPORTED("fork", "2.2.5") pid_t gnomon_fork() {
  const pid_t child = real_fork();
  if (child > 0) count_child();
  return child;
}

// Jumps, because vfork returns twice on its caller's stack.
__attribute__((naked, visibility("default"), symver("vfork@@GLIBC_2.2.5"))) pid_t gnomon_vfork() {
  asm("endbr64\n"
      "sub $8, %rsp\n"
      ".cfi_adjust_cfa_offset 8\n"
      "call gnomon_before_vfork\n"
      "add $8, %rsp\n"
      ".cfi_adjust_cfa_offset -8\n"
      "jmp *%rax\n");
}

// Jumps, because a seventh argument stands on the caller's stack.
__attribute__((naked, visibility("default"), symver("clone@@GLIBC_2.2.5"))) int gnomon_clone(
    int (*)(void*), void*, int, void*, ...) {
  GNOMON_JUMP_AFTER("gnomon_before_clone");
}

// The child inherits the signal mask that the calling thread has in the program's view.
GNOMON_EXPORTED("system", "2.2.5") int gnomon_system(const char* command) {
  if (command) count_child();
  const Blocked as_believed(emulated_mask());
  return real_system(command);
}

GNOMON_EXPORTED("popen", "2.2.5") FILE* gnomon_popen(const char* command, const char* type) {
  const Blocked as_believed(emulated_mask());
  FILE* pipe = real_popen(command, type);
  if (pipe) count_child();
  return pipe;
}

// The caller is not there any more once it has succeeded.
GNOMON_EXPORTED("daemon", "2.2.5") int gnomon_daemon(int keeps_directory, int keeps_files) {
  count_child();
  return real_daemon(keeps_directory, keeps_files);
}
}

namespace {

GNOMON_HOOK(gnomon_fork, real_fork);
GNOMON_HOOK(gnomon_vfork, real_vfork);
GNOMON_HOOK(gnomon_clone, real_clone);
GNOMON_HOOK(gnomon_system, real_system);
GNOMON_HOOK(gnomon_popen, real_popen);
GNOMON_HOOK(gnomon_daemon, real_daemon);

}  // namespace

}  // namespace gnomon::collector
