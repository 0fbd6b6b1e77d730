// Finds the place where a thread can be borrowed for a call of pthread_create: outside of all code
// that takes a lock of libc's, the loader's or the allocator's. Any thread; stops nothing.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_stack.h"
#include "injector/attach/remote/waiting.h"

namespace gnomon::injector {

struct SafePoint {
  enum class Where { here, later, nowhere };
  Where where = Where::nowhere;
  std::uint64_t address = 0;  // later: return address at which the thread has left that code
  // The loader may be among its callers, so that no library can be loaded before the thread
  // returns.
  bool is_under_loader = false;
  // The thread is in a signal handler, whose return will restore an earlier mask.
  bool is_in_handler = false;
};

class SafePoints {
 public:
  enum class Locks {
    all,
    no_allocators,  // allocator locks do not matter
  };
  // For the objects that the process has mapped now.
  explicit SafePoints(pid_t pid, Locks locks = Locks::all);
  // Reads what of() will need, so that no thread has to be stopped meanwhile.
  void prepare();
  // waits: the thread is in a system call that can restart.
  SafePoint of(const Stopped& thread, bool waits);
  // Returns true if malloc is not libc's; its locks may be awaited in any way.
  bool has_own_allocator() const { return has_own_allocator_; }
  // Says why no thread reaches a safe point, for a message.
  std::string why_nowhere() const;

 private:
  struct Object {
    AddressRange code;
    bool has_locks, is_loader;
    bool is_mixed;  // an executable with an allocator linked into it
    bool is_file;
  };
  const Object* object_at(std::uint64_t pc) const;
  bool is_seen_whole(const CallStack& stack) const;

  pid_t pid_;
  std::optional<RemoteStacks> stacks_;  // made at first use
  bool has_own_allocator_ = false;
  std::vector<Object> objects_;  // by address
  std::vector<AddressRange> waits_, foreign_waits_, call_back_;
};

// The rule, applied to a walked stack. has_locks(pc, callee, returns_to): pc is code of libc, the
// loader or the allocator, which has called other such code at `callee` (0: it has not).
// only_waits(pc, returns_to): pc is in a function that waits without holding a lock, called there.
// loads(pc): pc is in a function that holds the loader's lock while it calls the program.
template <typename HasLocks, typename OnlyWaits, typename Loads>
SafePoint find_safe_point(const std::vector<Frame>& frames, bool waits, HasLocks has_locks,
                          OnlyWaits only_waits, Loads loads) {
  using Where = SafePoint::Where;
  SafePoint found;
  std::uint64_t outermost = 0;  // return address of the outermost call inside such code; 0: none
  bool interrupted = false, has_to_return = false;
  for (const Frame& frame : frames) {
    const std::uint64_t pc = frame.is_interrupted ? frame.pc : frame.pc - 1;
    found.is_under_loader = found.is_under_loader || loads(pc);
    if (frame.is_interrupted) {
      found.is_in_handler = &frame != &frames.front();
      // In a signal handler that interrupted such code, only the handler's return is safe.
      has_to_return = has_to_return || (outermost != 0 && &frame != &frames[1]);
      interrupted = true, outermost = 0;
    }
    if (!interrupted) continue;
    if (has_locks(pc, outermost, frame.pc)) {
      outermost = pc;
      continue;
    }
    interrupted = false;
    const bool is_first = found.where == Where::nowhere;
    if (!has_to_return &&
        (outermost == 0 || ((waits || !is_first) && only_waits(outermost, frame.pc)))) {
      if (is_first) found.where = Where::here;
    } else {
      found.where = Where::later;
      found.address = frame.pc;
    }
    has_to_return = false, outermost = 0;
  }
  // The interrupted code could not be walked to its end.
  return interrupted ? SafePoint{} : found;
}

}  // namespace gnomon::injector
