// Preflight: do the system call filters (seccomp) of a process allow what the collector needs?
// Called and finished on one thread.
#include "injector/attach/checks/confinement.h"

#include <linux/audit.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "injector/attach/checks/needed_calls.h"
#include "injector/attach/checks/seccomp_filter.h"
#include "injector/attach/checks/seccomp_trial.h"
#include "injector/attach/remote/namespace_view.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/attach/thread/traced_thread.h"

namespace gnomon::injector {
namespace {

using std::chrono::nanoseconds;

constexpr const char* kNext = "allow that, or start it without its sandbox";

// How a thread is confined. Threads with equally many filters usually have the same ones.
struct Confinement {
  std::uint64_t mode = 0, count = 0;
  auto operator<=>(const Confinement&) const = default;
};

Confinement confinement_of(pid_t pid, pid_t tid) {
  const std::string status = proc_text(pid, "task/" + std::to_string(tid) + "/status");
  return {number_in(status, "Seccomp").value_or(0),
          number_in(status, "Seccomp_filters").value_or(0)};
}

std::map<Confinement, std::vector<pid_t>> confined_threads(pid_t pid) {
  const std::vector<pid_t> tids = threads_of(pid);
  std::vector<Confinement> seen(tids.size());
  look_at_each(tids.size(), [&](std::size_t i) { seen[i] = confinement_of(pid, tids[i]); });
  std::map<Confinement, std::vector<pid_t>> found;
  for (std::size_t i = 0; i < tids.size(); ++i)
    if (seen[i].mode != SECCOMP_MODE_DISABLED) found[seen[i]].push_back(tids[i]);
  return found;
}

Result<void> check_strict(const std::map<Confinement, std::vector<pid_t>>& threads) {
  for (const auto& [confinement, tids] : threads)
    if (confinement.mode == SECCOMP_MODE_STRICT)
      return fault("thread " + std::to_string(tids.front()) +
                       " may do nothing but read and write (seccomp's strict mode)",
                   kNext);
  return {};
}

// Returns what speaks against the call's outcome; nothing if it is what the collector needs.
std::optional<Fault> objection(std::uint32_t verdict, const NeededCall& call) {
  const auto error = static_cast<int>(verdict & SECCOMP_RET_DATA);
  const std::string name = call.name;
  switch (verdict & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
      return std::nullopt;
    case SECCOMP_RET_TRACE:
      if (call.as_well == kAny || call.as_well == ENOSYS) return std::nullopt;
      break;
    case SECCOMP_RET_ERRNO:
      if (call.as_well == kAny || (error != 0 && call.as_well == error)) return std::nullopt;
      break;
    case SECCOMP_RET_USER_NOTIF:
      return Fault{"its seccomp filter asks another process whether it may call " + name, kNext};
    default:
      return Fault{"its seccomp filter would end it for calling " + name, kNext};
  }
  return Fault{"its seccomp filter does not let it call " + name, kNext};
}

Result<void> check_calls(const std::vector<SeccompFilter>& filters, pid_t itself,
                         std::uint64_t instruction, bool hands) {
  for (const NeededCall& call : kNeededCalls) {
    if (call.only_handover && !hands) continue;
    seccomp_data data{call.number, AUDIT_ARCH_X86_64, instruction, {}};
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      data.args[i] = call.arguments[i] == kItself ? static_cast<std::uint64_t>(itself)
                     : call.arguments[i] == kFile ? 3
                                                  : call.arguments[i];
    if (const auto why = objection(outcome(filters, data), call)) return tl::unexpected(*why);
  }
  return {};
}

constexpr auto kGetFilter = static_cast<__ptrace_request>(PTRACE_SECCOMP_GET_FILTER);

// Returns the filters of a stopped thread, the one set last first.
Result<std::vector<SeccompFilter>> filters_of(const TracedThread& thread) {
  std::vector<SeccompFilter> filters;
  for (;;) {
    const auto index = reinterpret_cast<void*>(filters.size());
    const long length = ptrace(kGetFilter, thread.tid(), index, nullptr);
    if (length < 0 && errno == ENOENT && !filters.empty()) return filters;
    SeccompFilter filter(static_cast<std::size_t>(std::max(length, 0l)));
    if (length > 0 && ptrace(kGetFilter, thread.tid(), index, filter.data()) == length) {
      filters.push_back(std::move(filter));
      continue;
    }
    if (errno == EACCES || errno == EPERM)
      return fault("its system calls are filtered (seccomp), and only root may read the filter",
                   "be root, outside of containers and sandboxes");
    return fault("its system calls are filtered (seccomp), and this kernel does not tell how",
                 kNext);
  }
}

// A thread in state D cannot be stopped before its wait is over.
std::optional<TracedThread> stop_soon(pid_t pid, pid_t tid) {
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    const char state = state_of(pid, tid);
    if (state == '\0') break;
    if (state != 'R' && state != 'S') continue;
    if (auto thread = TracedThread::stop(pid, tid)) return thread;
  }
  return std::nullopt;
}

bool are_same(const SeccompFilter& one, const SeccompFilter& other) {
  return one.size() == other.size() &&
         std::memcmp(one.data(), other.data(), one.size() * sizeof one[0]) == 0;
}

class FilterReader {
 public:
  FilterReader(pid_t pid, bool hands) : pid_(pid), hands_(hands) {}
  // Checks threads with equally many filters.
  Result<void> check(const std::vector<pid_t>& tids);
  nanoseconds held() const { return held_; }

 private:
  Result<void> check(const TracedThread& thread);

  pid_t pid_;
  bool hands_;
  nanoseconds held_{};
  std::vector<std::vector<SeccompFilter>> seen_;
};

Result<void> FilterReader::check(const TracedThread& thread) {
  auto filters = filters_of(thread);
  if (!filters) return tl::unexpected(filters.error());
  for (const auto& known : seen_)
    if (std::equal(known.begin(), known.end(), filters->begin(), filters->end(), are_same))
      return {};
  auto fits = check_calls(*filters, own_number(pid_), thread.stopped().rip(), hands_);
  seen_.push_back(std::move(*filters));
  return fits;
}

Result<void> FilterReader::check(const std::vector<pid_t>& tids) {
  constexpr std::size_t kMost = 512;
  std::size_t read = 0;
  for (std::size_t i = 0; i < tids.size() && read < kMost; ++i) {
    auto thread = stop_soon(pid_, tids[i]);
    if (!thread) continue;
    auto fits = check(*thread);
    held_ += thread->release();
    if (!fits) return fits;
    ++read;
  }
  if (read == 0) return fault("its seccomp filter could not be read", "repeat");
  return {};
}

bool is_filtered_as_we_are(pid_t pid, const std::map<Confinement, std::vector<pid_t>>& threads) {
  const auto ours = confinement_of(getpid(), getpid());
  for (const char* space : {"ns/pid", "ns/mnt", "ns/user"})
    if (proc_link(pid, space) != proc_link(getpid(), space)) return false;
  return ours.mode == SECCOMP_MODE_FILTER && ours.count != 0 && threads.size() == 1 &&
         threads.begin()->first == ours;
}

Result<void> check_as_we_are(bool hands) {
  const auto tried = try_needed_calls();
  if (!tried) return fault("a trial of what its seccomp filter allows could not be made", kNext);
  for (std::size_t i = 0; i < kNeededCalls.size(); ++i) {
    if (kNeededCalls[i].only_handover && !hands) continue;
    if (const auto why = objection((*tried)[i], kNeededCalls[i])) return tl::unexpected(*why);
  }
  return {};
}

}  // namespace

Result<nanoseconds> check_filters_by_ptrace(pid_t pid, bool hands) {
  const auto threads = confined_threads(pid);
  if (auto fits = check_strict(threads); !fits) return tl::unexpected(fits.error());
  if (is_filtered_as_we_are(pid, threads)) {
    if (auto fits = check_as_we_are(hands); !fits) return tl::unexpected(fits.error());
    return nanoseconds{};
  }
  FilterReader reader(pid, hands);
  for (const auto& [confinement, tids] : threads)
    if (auto fits = reader.check(tids); !fits) return tl::unexpected(fits.error());
  return reader.held();
}

Result<void> check_filters_of_held(pid_t pid, bool hands) {
  const auto threads = confined_threads(pid);
  if (auto fits = check_strict(threads); !fits || threads.empty()) return fits;
  if (is_filtered_as_we_are(pid, threads)) return check_as_we_are(hands);
  return fault(
      "its system calls are filtered (seccomp), and nobody can read the filter while a debugger "
      "holds it",
      "`detach`, then `collector attach " + std::to_string(pid) + "` reads it first");
}

}  // namespace gnomon::injector
