// Finds the place where a thread can be borrowed for a call of pthread_create: outside of all code
// that takes a lock of libc's, the loader's or the allocator's. Any thread; stops nothing.
#include "injector/attach/safe_point.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "injector/attach/remote/call_target.h"
#include "injector/attach/remote/remote_process.h"
#include "libcollector/format/attach.h"

namespace gnomon::injector {
namespace {

// glibc functions that hold no lock of libc's while they wait.
constexpr const char* kWaits[] = {"accept",
                                  "accept4",
                                  "clock_nanosleep",
                                  "connect",
                                  "epoll_pwait",
                                  "epoll_pwait2",
                                  "epoll_wait",
                                  "fcntl",
                                  "fcntl64",
                                  "fdatasync",
                                  "flock",
                                  "fsync",
                                  "ioctl",
                                  "lockf",
                                  "lockf64",
                                  "msgrcv",
                                  "msgsnd",
                                  "nanosleep",
                                  "open",
                                  "open64",
                                  "openat",
                                  "openat64",
                                  "pause",
                                  "poll",
                                  "ppoll",
                                  "pread",
                                  "pread64",
                                  "pselect",
                                  "pthread_barrier_wait",
                                  "pthread_clockjoin_np",
                                  "pthread_cond_clockwait",
                                  "pthread_cond_timedwait",
                                  "pthread_cond_wait",
                                  "pthread_join",
                                  "pthread_mutex_clocklock",
                                  "pthread_mutex_lock",
                                  "pthread_mutex_timedlock",
                                  "pthread_rwlock_rdlock",
                                  "pthread_rwlock_wrlock",
                                  "pthread_timedjoin_np",
                                  "pwrite",
                                  "pwrite64",
                                  "read",
                                  "readv",
                                  "recv",
                                  "recvfrom",
                                  "recvmsg",
                                  "select",
                                  "sem_clockwait",
                                  "sem_timedwait",
                                  "sem_wait",
                                  "semop",
                                  "semtimedop",
                                  "send",
                                  "sendfile",
                                  "sendfile64",
                                  "sendmsg",
                                  "sendto",
                                  "sigsuspend",
                                  "sigtimedwait",
                                  "sigwait",
                                  "sigwaitinfo",
                                  "sleep",
                                  "splice",
                                  "syscall",
                                  "system",
                                  "usleep",
                                  "wait",
                                  "wait3",
                                  "wait4",
                                  "waitid",
                                  "waitpid",
                                  "write",
                                  "writev"};

// Returns true for those in which an allocator never waits: not mutexes, futex users, or functions
// that read and write files.
bool is_foreign_to_allocators(std::string_view wait) {
  constexpr std::string_view kTheirs[] = {"fcntl",    "fcntl64", "fdatasync", "fsync",  "ioctl",
                                          "lockf",    "lockf64", "open",      "open64", "openat",
                                          "openat64", "pread",   "pread64",   "pwrite", "pwrite64",
                                          "read",     "readv",   "syscall",   "write",  "writev"};
  return !wait.starts_with("pthread_mutex_") && !wait.starts_with("pthread_rwlock_") &&
         std::find(std::begin(kTheirs), std::end(kTheirs), wait) == std::end(kTheirs);
}

// Returns an entry of the process's auxiliary vector (getauxval(3)), or 0. AT_BASE: where the
// loader is mapped; AT_PHDR: an address in the program.
std::uint64_t told_by_kernel(pid_t pid, std::uint64_t what) {
  const std::string text = proc_text(pid, "auxv");
  Elf64_auxv_t entry{};
  for (std::size_t at = 0; at + sizeof entry <= text.size(); at += sizeof entry) {
    std::memcpy(&entry, text.data() + at, sizeof entry);
    if (entry.a_type == what) return entry.a_un.a_val;
  }
  return 0;
}

// Returns true if the object defines a function by which it is known to have locks that
// pthread_create takes.
bool takes_locks(const RemoteImage& image, bool is_allocator) {
  return is_allocator || image.function("pthread_create") != 0 || image.function("dlopen") != 0;
}

bool is_in(const std::vector<AddressRange>& ranges, std::uint64_t pc) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [pc](const AddressRange& range) { return range.contains(pc); });
}

}  // namespace

SafePoints::SafePoints(pid_t pid, Locks locks) : pid_(pid) {
  const std::uint64_t loader = told_by_kernel(pid, AT_BASE), program = told_by_kernel(pid, AT_PHDR);
  const std::vector<Mapping> mappings = mappings_of(pid);
  std::set<std::string> locked = {"[vdso]"};
  std::string loader_path, mixed_path;
  for (const Mapping& mapping : mappings) {
    if (mapping.offset != 0 || !mapping.path.starts_with("/")) continue;
    const auto image = RemoteImage::at(pid, mapping.begin);
    if (!image) continue;
    // The collector's own functions of libc's names pass calls on.
    const bool is_allocator = locks == Locks::all && image->function("malloc") != 0 &&
                              image->function(format::kAttachFunction) == 0;
    if (mapping.begin == loader || takes_locks(*image, is_allocator)) {
      locked.insert(mapping.path);
      if (program >= mapping.begin && program < mapping.end) mixed_path = mapping.path;
    }
    const bool is_libc = image->function("pthread_cond_wait") != 0;
    if (!is_libc && mapping.begin != loader && is_allocator) has_own_allocator_ = true;
    for (const char* name : is_libc ? std::span(kWaits) : std::span<const char* const>())
      for (const AddressRange& range : image->functions(name)) {
        waits_.push_back(range);
        if (is_foreign_to_allocators(name)) foreign_waits_.push_back(range);
      }
    for (const AddressRange& range : image->functions("dl_iterate_phdr"))
      call_back_.push_back(range);
    if (mapping.begin == loader) loader_path = mapping.path;
  }
  for (const Mapping& mapping : mappings)
    if (mapping.permissions.find('x') != std::string::npos)
      objects_.push_back({{mapping.begin, mapping.end},
                          locked.contains(mapping.path),
                          mapping.path == loader_path,
                          !mixed_path.empty() && mapping.path == mixed_path,
                          mapping.path.starts_with("/") || mapping.path == "[vdso]"});
}

void SafePoints::prepare() {
  if (!stacks_) stacks_.emplace(pid_);
}

std::string SafePoints::why_nowhere() const {
  std::string why = "none of its threads reached a place where the collector can come in";
  if (std::any_of(objects_.begin(), objects_.end(),
                  [](const Object& object) { return object.is_mixed; }))
    why += " (malloc is in the program itself, and one that computes may be inside it)";
  return why;
}

SafePoint SafePoints::of(const Stopped& thread, bool waits) {
  prepare();
  const CallStack stack = stacks_->walk(thread.registers);
  const bool is_whole = is_seen_whole(stack);
  if (!is_whole && runs_handler(thread)) return {};
  const auto calls = [this](const std::vector<AddressRange>& functions, std::uint64_t pc,
                            std::uint64_t returns_to) {
    return is_in(functions, pc) || is_in(functions, called_function(pid_, returns_to));
  };
  SafePoint found = find_safe_point(
      stack.frames, waits || has_waited(thread),
      [&](std::uint64_t pc, std::uint64_t callee, std::uint64_t returns_to) {
        // Code outside every mapped object may be anything.
        const Object* object = object_at(pc);
        if (!object) return true;
        if (object->is_mixed && callee != 0) return !calls(foreign_waits_, callee, returns_to);
        return object->has_locks;
      },
      [&](std::uint64_t pc, std::uint64_t returns_to) { return calls(waits_, pc, returns_to); },
      [this](std::uint64_t pc) {
        const Object* object = object_at(pc);
        return (object && object->is_loader) || is_in(call_back_, pc);
      });
  found.is_under_loader = found.is_under_loader || !is_whole;
  return found;
}

const SafePoints::Object* SafePoints::object_at(std::uint64_t pc) const {
  const auto after = std::upper_bound(
      objects_.begin(), objects_.end(), pc,
      [](std::uint64_t address, const Object& object) { return address < object.code.begin; });
  if (after == objects_.begin() || !std::prev(after)->code.contains(pc)) return nullptr;
  return &*std::prev(after);
}

// Code made at run time has no CFI: frames beyond it are guesses.
bool SafePoints::is_seen_whole(const CallStack& stack) const {
  return stack.is_whole &&
         std::all_of(stack.frames.begin(), stack.frames.end(), [this](const Frame& frame) {
           const Object* object = object_at(frame.is_interrupted ? frame.pc : frame.pc - 1);
           return object && object->is_file;
         });
}

}  // namespace gnomon::injector
