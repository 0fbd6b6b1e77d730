// Watches one recording from outside: takes samples, serves the mailbox, notices the end. In
// gnomon-sampler, main thread unless noted.
#include "libcollector/sampler/sampler.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "libcollector/core/atomic.h"
#include "libcollector/core/syscall.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/format/watches.h"
#include "libcollector/outside/breakpoint_trial.h"
#include "libcollector/record/file_space.h"
#include "libcollector/record/log.h"
#include "libcollector/record/mailbox.h"
#include "libcollector/record/overview.h"

namespace gnomon::sampler {
namespace {

using collector::atomic;
using collector::JsonLine;
using collector::now;
using format::SampleEvent;
using format::State;

// How often at least this program shows that it is there, and looks whether the recording has
// ended.
constexpr std::uint64_t kHeartbeat = 1'000'000'000;  // ns
// How often the kernel's rings are read while they have news.
constexpr std::uint64_t kDrainPeriod = 20'000'000;  // ns

void futex(std::uint32_t& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

void write_children(JsonLine& line, const Look& look) {
  constexpr std::size_t kMost = 256;
  if (look.children.empty()) return;
  line.open("of_children", '[');
  for (std::size_t i = 0; i < std::min(kMost, look.children.size()); ++i)
    line.open_item('{')
        .number("process", look.children[i].pid)
        .text("name", look.children[i].name.c_str())
        .close('}');
  line.close(']');
}

void write_threads(JsonLine& line, const Look& look) {
  constexpr std::size_t kThread = 512, kRest = 128;  // bytes of the line
  std::uint32_t left_out = look.threads_left_out;
  line.open("of_threads", '[');
  for (const ThreadFigures& thread : look.threads) {
    if (line.room() < kThread + kRest) {
      ++left_out;
      continue;
    }
    line.open_item('{').number("thread", thread.thread).text("name", thread.name.c_str());
    write_figures(line, thread.figures);
    line.close('}');
  }
  line.close(']');
  if (left_out != 0) line.number("threads_left_out", left_out);
}

}  // namespace

void Sampler::take_sample(SampleEvent event, const char* label) {
  if (has_executed()) return;
  Look look = process_.look();
  std::uint64_t& cpu = figure(look.process, format::Figure::cpu);
  if (cpu == format::kUnknownFigure && event == SampleEvent::end) cpu = cpu_time_by_clock();
  // The recording began with the program, a moment ago.
  if (event == SampleEvent::start && cpu != format::kUnknownFigure && clock_->executed_at() != 0)
    cpu -= std::min(cpu, clock_->cpu_used());
  // Nothing has changed while a debugger holds the process.
  if (event == SampleEvent::periodic && !look.is_news) return;
  if (cpu == format::kUnknownFigure) return;
  static std::vector<char> text(1 << 20);
  JsonLine line(control_->session, text.data(), text.size());
  begin_sample(line, atomic(control_->overview_lines).fetch_add(1), event, label, look.time,
               look.process);
  write_children(line, look);
  write_threads(line, look);
  const std::size_t length = line.finish();
  if (length == 0 ||
      collector::append_text({directory_, format::kOverviewFile}, text.data(), length))
    atomic(control_->dropped[static_cast<std::size_t>(format::Drop::samples)]).fetch_add(1);
}

// Of a process that has been waited for; kUnknownFigure: that is not known.
std::uint64_t Sampler::cpu_time_by_clock() const {
  const std::uint64_t used = clock_ ? clock_->cpu_used() : 0;
  return used == 0 ? format::kUnknownFigure : clock_->cpu_at_begin() + used;
}

// The recording has ended, or was told to. One that has failed goes on with samples alone.
bool Sampler::is_over() const {
  const auto state = static_cast<State>(atomic(control_->state).load());
  return state == State::ended || atomic(control_->end_time).load() != 0 ||
         atomic(control_->asked).load() == static_cast<std::uint32_t>(format::Ask::end);
}

// Another program runs in the process: the last sample is the one from right before that.
bool Sampler::has_executed() const {
  if (alone_) return clock_->has_executed();
  return atomic(control_->replacing).load() != 0 && process_.has_executed();
}

int Sampler::milliseconds_to_sleep() const {
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  std::uint64_t wake = std::min(at + kHeartbeat, limits_->next_look(at));
  if (period_ != 0) wake = std::min(wake, next_sample_);
  if (clock_ && clock_runs_) wake = std::min(wake, at + kDrainPeriod);
  return wake <= at ? 0 : static_cast<int>((wake - at + 999'999) / 1'000'000);
}

// A program that ends in order has taken its last sample itself.
Sampler::Goes Sampler::on_process_end() {
  if (is_over()) return Goes::ended;
  drain_clock(true);
  take_sample(SampleEvent::end, "");
  collector::write_log(directory_, *control_, {format::kLogProcessEnded, now(CLOCK_MONOTONIC)});
  return Goes::ended;
}

Sampler::Goes Sampler::on_time() {
  if (is_over()) return Goes::ended;
  if (has_executed()) return Goes::ended;
  const std::uint64_t at = now(CLOCK_MONOTONIC);
  atomic(control_->sampler_time).store(at);
  if (on_limits(at) == Goes::ended) return Goes::ended;
  if (period_ == 0 || at < next_sample_) return Goes::on;
  take_sample(SampleEvent::periodic, "");
  next_sample_ += period_;
  if (next_sample_ <= at) next_sample_ = at + period_;  // this program was held up
  return Goes::on;
}

Sampler::Goes Sampler::on_limits(std::uint64_t at) {
  using Due = Limits::Due;
  switch (limits_->look(at)) {
    case Due::nothing:
      return Goes::on;
    case Due::delay:
      if (atomic(control_->pause_reason).load() !=
              static_cast<std::uint32_t>(format::PauseReason::delay) ||
          !collector::resume(*control_))
        return Goes::on;
      collector::write_log(directory_, *control_, {format::kLogResume, at});
      take_sample(SampleEvent::resume, "");
      return Goes::on;
    case Due::size:
      // The reason counts also for a recording that is paused already.
      atomic(control_->pause_reason)
          .store(static_cast<std::uint32_t>(format::PauseReason::size_limit));
      if (!collector::pause(*control_, format::PauseReason::size_limit)) return Goes::on;
      collector::write_log(directory_, *control_, {format::kLogPause, at});
      take_sample(SampleEvent::pause, "size limit");
      return Goes::on;
    case Due::duration:
      break;
  }
  take_sample(SampleEvent::end, "");
  atomic(control_->asked).store(static_cast<std::uint32_t>(format::Ask::end));
  collector::write_log(directory_, *control_, {format::kLogDuration, at});
  return Goes::ended;
}

Sampler::Goes Sampler::on_mail() {
  std::uint64_t count = 0;
  if (read(mail_, &count, sizeof count) < 0) return Goes::on;
  format::Mailbox& box = control_->mailbox;
  format::Mailbox request;
  const std::uint32_t number = collector::take_request(box, seen_, request);
  if (number == 0) return Goes::on;
  seen_ = number;
  const char* const label = request.label;
  const auto verb = static_cast<format::Verb>(request.verb);
  const bool is_stopped = process_.is_stopped();
  if (clock_ && is_stopped) clock_->note_stop();
  if (clock_) clock_->tell_all();
  drain_clock(is_stopped);
  if (clock_) clock_->name_kernel();
  const bool is_watch = verb == format::Verb::watch || verb == format::Verb::unwatch;
  if (is_watch) {
    const std::string answer = watch(verb, label);
    std::strncpy(control_->answer, answer.c_str(), sizeof control_->answer - 1);
  }
  if (verb != format::Verb::record && !is_watch && request.event < format::kSampleEvents.size())
    take_sample(static_cast<SampleEvent>(request.event), label);
  atomic(control_->sampler_time).store(now(CLOCK_MONOTONIC));
  atomic(box.answered).store(number, std::memory_order_release);
  futex(box.answered, FUTEX_WAKE, 1'000'000);
  if (verb != format::Verb::end) return Goes::on;
  // Who asks says so in the page as well, but perhaps after this program has closed that.
  if (alone_) atomic(control_->asked).store(static_cast<std::uint32_t>(format::Ask::end));
  return Goes::ended;
}

// The recording may have had no rings until now.
std::string Sampler::watch(format::Verb verb, const char* label) {
  const bool had_rings = clock_ != nullptr;
  if (verb == format::Verb::unwatch) {
    const auto number = static_cast<std::uint32_t>(std::strtoul(label, nullptr, 10));
    return had_rings && clock_->unwatch(number) ? std::string("#").append(label)
                                                : "nothing of that number is watched";
  }
  if (!had_rings)
    if (std::string refusal = open_clock("", 0); !refusal.empty()) return refusal;
  if (!had_rings) clock_->drain(false);
  format::Watch wanted = format::watch_in(label);
  std::string refusal = clock_->watch(wanted);
  if (!refusal.empty()) return refusal;
  const outside::BreakpointTrial& trial = outside::breakpoint_trial();
  return format::watch_answer({wanted.number, trial.sampled, trial.counted});
}

void Sampler::forward_mail() {
  for (std::uint32_t seen = 0;;) {
    const std::uint32_t number = atomic(control_->mailbox.sequence).load();
    if (number != seen && number % 2 == 0) eventfd_write(mail_, 1);
    seen = number;
    futex(control_->mailbox.sequence, FUTEX_WAIT, number);
  }
}

// The process waits until the debugger says that it may begin; a debugger may hold it meanwhile for
// as long as its user likes. Returns false if the process ends before.
bool Sampler::await_beginning() {
  if (alone_ && !await_exec()) return false;
  if (alone_) begin_alone();
  constexpr int kLook = 1;  // ms
  const auto is_armed = [this] {
    return static_cast<State>(atomic(control_->state).load()) == State::armed;
  };
  while (clock_ && is_armed()) {
    clock_->look_ahead();
    pollfd end{process_end_, POLLIN, 0};
    if (poll(&end, 1, kLook) != 0) return !is_armed();
  }
  return true;
}

void Sampler::drain_clock(bool is_still) {
  if (clock_) clock_runs_ = clock_->drain(is_still);
}

// Returns what came of waiting for mail, the end of the process, samples and the time.
Sampler::Goes Sampler::wait() {
  pollfd events[]{{mail_, POLLIN, 0}, {process_end_, POLLIN, 0}};
  poll(events, std::size(events), milliseconds_to_sleep());
  if (events[0].revents != 0 && on_mail() == Goes::ended) return Goes::ended;
  if (events[1].revents != 0) return on_process_end();
  drain_clock(false);
  return on_time();
}

void Sampler::record() {
  if (clock_) clock_->drain(false);  // what the process has used up to now is not of the recording
  next_sample_ = now(CLOCK_MONOTONIC) + period_;
  atomic(control_->sampler_time).store(now(CLOCK_MONOTONIC));
  take_sample(SampleEvent::baseline, "");
  std::thread([this] { forward_mail(); }).detach();
  while (wait() == Goes::on) {
  }
  if (clock_) clock_->end();
  if (alone_) end_alone();
}

// A number that is left in the control page tells readers that this program was killed.
void Sampler::run() {
  atomic(control_->sampler).store(static_cast<std::uint32_t>(getpid()));
  if (await_beginning())
    record();
  else if (alone_)
    remove_experiment(*alone_);
  atomic(control_->sampler).store(0);
}

}  // namespace gnomon::sampler
