// Where on its way a thread can be borrowed for a call of pthread_create: where it is in nothing
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
  std::uint64_t address = 0;  // later: where it is out of them, by its stack
  // The loader has called it, or may have: no library can be loaded before it gets on.
  bool is_under_loader = false;
  // A signal handler's return puts back the mask from before it.
  bool is_in_handler = false;
};

class SafePoints {
 public:
  enum class Locks {
    all,
    no_allocators,  // an allocator's alone do no harm
  };
  // Of a process as it is mapped now.
  explicit SafePoints(pid_t pid, Locks locks = Locks::all);
  // Reads what `of` will need, so that no thread has to stand still for that.
  void prepare();
  // `waits`: the thread is in a system call that can begin anew.
  SafePoint of(const Stopped& thread, bool waits);
  // True if malloc is not libc's: its locks may be waited for in any way.
  bool has_own_allocator() const { return has_own_allocator_; }
  // What to say if no thread comes to such a place.
  std::string why_nowhere() const;

 private:
  struct Object {
    AddressRange code;
    bool has_locks, is_loader;
    bool is_mixed;  // the program, its allocator linked into it
    bool is_file;
  };
  const Object* object_at(std::uint64_t pc) const;
  bool is_seen_whole(const CallStack& stack) const;

  pid_t pid_;
  std::optional<RemoteStacks> stacks_;  // made when first asked for
  bool has_own_allocator_ = false;
  std::vector<Object> objects_;  // by address
  std::vector<AddressRange> waits_, foreign_waits_, call_back_;
};

// The rule, for a stack as it was walked. `has_locks(pc, callee, returns_to)`: code of libc, the
// loader or the allocator, which has called other such code at `callee` (0: not); of it
// `only_waits(pc, returns_to)`: functions that wait and hold none, called there; `loads(pc)`: those
// that hold the loader's while they call the program.
template <typename HasLocks, typename OnlyWaits, typename Loads>
SafePoint find_safe_point(const std::vector<Frame>& frames, bool waits, HasLocks has_locks,
                          OnlyWaits only_waits, Loads loads) {
  using Where = SafePoint::Where;
  SafePoint found;
  std::uint64_t outermost = 0;  // of the calls inside libc that were interrupted; 0: not in any
  bool interrupted = false, has_to_return = false;
  for (const Frame& frame : frames) {
    const std::uint64_t pc = frame.is_interrupted ? frame.pc : frame.pc - 1;
    found.is_under_loader = found.is_under_loader || loads(pc);
    if (frame.is_interrupted) {
      found.is_in_handler = &frame != &frames.front();
      // Of a handler that is itself in such code nothing is safe but its last step, the return.
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
  // What was interrupted could not be seen to its end.
  return interrupted ? SafePoint{} : found;
}

}  // namespace gnomon::injector
