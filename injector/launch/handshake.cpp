// Handshake of a launch: finds the control page of the launched program's experiment and tells the
// collector, which is holding the program, to record. Any thread; needs no debugger.
#include "injector/launch/handshake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "injector/attach/remote/remote_process.h"
#include "injector/recording.h"
#include "libcollector/format/control.h"

namespace gnomon::injector {
namespace {

using format::ControlPage;
using Clock = std::chrono::steady_clock;

Fault failure_of(const ControlPage& page) {
  if (const auto* row = format::find_failure(page.failure))
    return {std::string(row->what), std::string(row->next)};
  return {"the collector could not begin", ""};
}

bool runs(pid_t pid) {
  char path[PATH_MAX];
  return readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path) > 0;
}

// How long the process has been able to run. A debugger that reads the symbols of a program's
// libraries holds the program meanwhile, on a busy machine for seconds.
class Patience {
 public:
  Patience(pid_t pid, Clock::duration limit) : pid_(pid), left_(limit) {}

  // To be called often: what has passed since the call before counts by the state found now.
  bool lasts() {
    const auto now = Clock::now();
    const char state = state_of(pid_, pid_);
    if (state != 't' && state != 'T') left_ -= now - seen_;
    seen_ = now;
    return left_ > Clock::duration::zero();
  }

 private:
  pid_t pid_;
  Clock::duration left_;
  Clock::time_point seen_ = Clock::now();
};

}  // namespace

Result<std::string> ask_to_record(const Expected& expected, unsigned limit_ms,
                                  const std::function<void(const std::string& experiment)>& armed,
                                  const std::stop_token& stop) {
  const auto& [stem, session, pid] = expected;
  Patience patience(pid, std::chrono::milliseconds(limit_ms));
  Found found;
  for (; patience.lasts() && !stop.stop_requested();
       std::this_thread::sleep_for(std::chrono::microseconds(500))) {
    if (!found.page) found = find_experiment(stem, session, pid);
    const MappedControl& page = found.page;
    if (!page && runs(pid)) continue;
    if (!page) return "";  // the program has ended; reports say how
    if (page->major != format::kFormatMajor)
      return fault("libcollector.so is of another version", "reinstall Gnomon");
    switch (static_cast<format::State>(std::atomic_ref(page->state).load())) {
      case format::State::none:
        if (!runs(pid)) return "";
        continue;
      case format::State::armed:
        if (armed) armed(found.experiment);
        std::atomic_ref(page->asked).store(static_cast<std::uint32_t>(format::Ask::record));
        syscall(SYS_futex, &page->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
        return found.experiment;
      case format::State::failed:
        return tl::unexpected(failure_of(*page));
      default:
        return found.experiment;
    }
  }
  if (found.page) return fault("the collector did not reach the point of recording");
  return fault("the collector could not write " + stem + ".N.er",
               "see whether that file system is full, and whether the program may write there");
}

}  // namespace gnomon::injector
