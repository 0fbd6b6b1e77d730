// Signals by which somebody pauses and resumes the recording, or has samples taken. The handlers
// are signal handlers of the program; the rest is normal context.
#include "libcollector/session/control_signals.h"

#include <signal.h>

#include <cerrno>

#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/record/log.h"
#include "libcollector/record/mailbox.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {
namespace {

using format::SampleEvent;
using format::Setting;
using Handler = void (*)(int, siginfo_t*, void*);

struct Taken {
  int signal;  // 0: none
  struct sigaction before;
};
constinit Taken pausing{}, sampling{};

void sample(SampleEvent event) {
  if (!post_sample(*own_recorder->control(), event)) own_recorder->drop(format::Drop::samples);
}

// A fork child records nothing.
bool is_recording() { return own_recorder->control() && own_recorder->recording(); }

void on_sample(int, siginfo_t*, void*) {
  const int saved_errno = errno;
  if (is_recording()) sample(SampleEvent::manual);
  errno = saved_errno;
}

void on_pause(int, siginfo_t*, void*) {
  const int saved_errno = errno;
  if (is_recording()) {
    format::ControlPage& page = *own_recorder->control();
    if (pause(page, format::PauseReason::asked)) {
      write_log(own_recorder->directory(), *own_recorder->control(),
                {format::kLogPause, now(CLOCK_MONOTONIC)});
      sample(SampleEvent::pause);
    } else if (resume(page)) {
      write_log(own_recorder->directory(), *own_recorder->control(),
                {format::kLogResume, now(CLOCK_MONOTONIC)});
      sample(SampleEvent::resume);
    }
  }
  errno = saved_errno;
}

void take(Taken& what, std::uint64_t signal, Handler handler) {
  if (signal == 0 || signal >= _NSIG || what.signal != 0) return;
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(static_cast<int>(signal), &action, &what.before) == 0)
    what.signal = static_cast<int>(signal);
}

void give_back(Taken& what, Handler handler) {
  struct sigaction now_set {};
  if (what.signal != 0 && sigaction(what.signal, nullptr, &now_set) == 0 &&
      now_set.sa_sigaction == handler)
    sigaction(what.signal, &what.before, nullptr);
  what.signal = 0;
}

}  // namespace

void take_control_signals(const format::SettingValues& settings) {
  take(pausing, settings[Setting::pause_signal], on_pause);
  take(sampling, settings[Setting::sample_signal], on_sample);
}

void give_control_signals_back() {
  give_back(pausing, on_pause);
  give_back(sampling, on_sample);
}

}  // namespace gnomon::collector
