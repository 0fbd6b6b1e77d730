// Follows a launch until the collector in the program records, or cannot. Any thread; needs no
// debugger.
#include "injector/launch/follow_launch.h"

#include <chrono>
#include <thread>

#include "injector/base/presence.h"
#include "injector/base/sampler.h"
#include "injector/launch/environment.h"
#include "injector/launch/handshake.h"

namespace gnomon::injector {
namespace {

// If gnomon-sampler is to be the program's clock it starts while the collector still holds the
// program, which has one thread.
std::optional<Fault> begin_recording(const LaunchedProgram& program, const LaunchNews& news,
                                     const std::stop_token& stop) {
  const Settings& settings = program.settings;
  const pid_t pid = program.pid;
  std::string failed;
  bool is_followed = false;
  const auto armed = [&](const std::string& experiment) {
    if (format::may_be_kernels(settings.values) || !settings.counters.empty()) {
      failed = follow_recording(settings, experiment, pid, OtherClock::signals);
      is_followed = true;
    }
    if (news.armed) news.armed(experiment);
  };
  constexpr unsigned kLateMs = 2000;
  auto asked =
      ask_to_record({settings.stem, settings.session, pid}, kLateMs, {armed, news.late}, stop);
  if (!asked) return asked.error();
  if (asked->empty()) return std::nullopt;
  if (!is_followed) failed = follow_recording(settings, *asked, pid, OtherClock::signals);
  if (!failed.empty() && presence(pid, program.executable, settings.library) == Presence::here)
    news.failed(failed);
  return std::nullopt;
}

}  // namespace

std::string not_yet(pid_t pid, const std::string& why) {
  return "process " + std::to_string(pid) + " is not recorded yet: " + why + ".";
}

std::optional<Fault> follow_launch(const LaunchedProgram& program, const LaunchNews& news,
                                   const std::stop_token& stop) {
  using std::chrono::milliseconds;
  const std::string& library = program.settings.library;
  for (unsigned looks = 0; !stop.stop_requested(); ++looks) {
    switch (presence(program.pid, program.executable, library)) {
      case Presence::gone:
        return std::nullopt;
      case Presence::absent:
        return absence(program.pid, library);
      case Presence::here:
        return begin_recording(program, news, stop);
      case Presence::not_yet:
        // A program stopped before its loader ran may stay so for long.
        std::this_thread::sleep_for(milliseconds(looks < 2000 ? 1 : 20));
    }
  }
  return std::nullopt;
}

}  // namespace gnomon::injector
