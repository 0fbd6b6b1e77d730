// Handshake of a launch: finds the control page of the launched program's experiment and tells the
// collector, which is holding the program, to record. Any thread; needs no debugger.
#include "injector/launch/handshake.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "injector/attach/remote/remote_image.h"
#include "injector/attach/remote/remote_process.h"
#include "injector/base/recording.h"
#include "libcollector/format/attach.h"
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
class LaunchPatience {
 public:
  LaunchPatience(pid_t pid, Clock::duration limit) : pid_(pid), left_(limit) {}

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

// Reads kLaunchState from the process. Returns nothing if that fails.
std::optional<std::int32_t> launch_state(pid_t pid) {
  for (const RemoteImage& collector : collectors_in(pid))
    if (const std::uint64_t at = collector.data(format::kLaunchState); at != 0)
      return read_value<std::int32_t>(pid, at);
  return std::nullopt;
}

Fault cannot_write(const std::string& stem, int error) {
  return {"the collector could not write " + stem + ".N.er: " + std::strerror(error),
          "see whether that file system is full, and whether the program may write there"};
}

std::string why_late(const std::string& stem, bool is_known) {
  const std::string why =
      "the constructors of its libraries run first, and the recording begins "
      "by itself once they are over";
  return is_known ? why : why + ", unless the collector cannot write " + stem + ".N.er";
}

// Returns the page's answer; nothing if there is none yet.
std::optional<Result<std::string>> answer_of(const Found& found, pid_t pid,
                                             const HandshakeNews& news) {
  ControlPage& page = *found.page;
  if (page.major != format::kFormatMajor)
    return fault("libcollector.so is of another version", "reinstall Gnomon");
  switch (static_cast<format::State>(std::atomic_ref(page.state).load())) {
    case format::State::none:
      if (!runs(pid)) return std::string();
      return std::nullopt;
    case format::State::armed:
      if (news.armed) news.armed(found.experiment);
      std::atomic_ref(page.asked).store(static_cast<std::uint32_t>(format::Ask::record));
      syscall(SYS_futex, &page.asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
      return found.experiment;
    case format::State::failed:
      return tl::unexpected(failure_of(page));
    default:
      return found.experiment;
  }
}

}  // namespace

Result<std::string> ask_to_record(const Expected& expected, unsigned late_ms,
                                  const HandshakeNews& news, const std::stop_token& stop) {
  constexpr unsigned kLooksBetween = 20;
  const auto& [stem, session, pid] = expected;
  LaunchPatience patience(pid, std::chrono::milliseconds(late_ms));
  Found found;
  bool is_late = false;
  for (unsigned looks = 1; !stop.stop_requested(); ++looks) {
    if (!found.page) found = find_experiment(stem, session, pid);
    if (found.page) {
      if (auto answer = answer_of(found, pid, news)) return *answer;
    } else if (!runs(pid)) {
      break;  // reports say how it has ended
    }
    const bool becomes_late = !is_late && !patience.lasts();
    if (becomes_late || looks % kLooksBetween == 0) {
      const auto state = launch_state(pid);
      if (!found.page && state.value_or(0) < 0) return tl::unexpected(cannot_write(stem, -*state));
      if (becomes_late && news.late) news.late(why_late(stem, state || found.page));
      is_late |= becomes_late;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(is_late ? 5000 : 500));
  }
  return "";
}

}  // namespace gnomon::injector
