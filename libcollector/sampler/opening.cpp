// How a Sampler begins: with the experiment of a collector, or alone. In gnomon-sampler, main
// thread.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "libcollector/core/atomic.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/record/log.h"
#include "libcollector/record/mailbox.h"
#include "libcollector/sampler/sampler.h"

namespace gnomon::sampler {
namespace {

using collector::atomic;
using format::ControlPage;
using format::Setting;
using format::State;

bool fits(const ControlPage& page, std::uint64_t session, std::uint32_t own_number) {
  return page.magic == format::kControlMagic && page.major == format::kFormatMajor &&
         page.session == session && page.pid == own_number;
}

ControlPage* map_control(const collector::ExperimentDirectory& directory) {
  const int file = directory.open_file(format::kControlFile, O_RDWR);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<ControlPage*>(memory);
}

}  // namespace

bool Sampler::open_process(std::string& fault) {
  process_end_ = static_cast<int>(syscall(SYS_pidfd_open, wanted_.pid, 0));
  if (process_end_ < 0)
    fault = errno == ENOSYS ? "the kernel has no pidfd_open (Linux 5.3)" : "the process has ended";
  mail_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (mail_ < 0) fault = "the kernel refuses an eventfd";
  return process_end_ >= 0 && mail_ >= 0;
}

std::unique_ptr<Sampler> Sampler::open(const Wanted& wanted, std::string& fault) {
  std::unique_ptr<Sampler> sampler(new Sampler(wanted));
  if (!sampler->open_process(fault)) return nullptr;
  if (sampler->directory_.open_path(wanted.directory.c_str()) == 0)
    sampler->control_ = map_control(sampler->directory_);
  if (!sampler->control_) {
    fault = "the experiment " + wanted.directory + " cannot be opened";
    return nullptr;
  }
  if (!fits(*sampler->control_, wanted.session, sampler->process_.own_number())) {
    fault = wanted.directory + " is not the experiment of process " + std::to_string(wanted.pid);
    return nullptr;
  }
  sampler->limits_.emplace(sampler->wanted_.settings, *sampler->control_);
  return sampler;
}

std::unique_ptr<Sampler> Sampler::open_alone(const Wanted& wanted, const Alone& alone,
                                             std::string& fault) {
  std::unique_ptr<Sampler> sampler(new Sampler(wanted));
  if (!sampler->open_process(fault)) return nullptr;
  sampler->alone_ = make_experiment(alone, wanted.session, wanted.settings, wanted.pid,
                                    sampler->process_.own_number(), fault);
  if (!sampler->alone_) return nullptr;
  sampler->directory_ = sampler->alone_->directory();
  sampler->control_ = sampler->alone_->control();
  sampler->limits_.emplace(sampler->wanted_.settings, *sampler->control_);
  fault = sampler->open_clock(alone.is_to_execute ? alone.executable : "",
                              sampler->wanted_.settings[Setting::profile]);
  if (fault.empty()) return sampler;
  remove_experiment(*sampler->alone_);
  return nullptr;
}

std::string Sampler::open_clock() {
  std::string refusal;
  if (format::may_be_kernels(wanted_.settings)) {
    refusal = clock_refusal();
    if (refusal.empty()) refusal = open_clock("", wanted_.settings[Setting::profile]);
  }
  if (!clock_ && !wanted_.counters.empty()) open_counters();
  return refusal;
}

// A recording without counters is of use, too: what the kernel refuses stands in its log.
void Sampler::open_counters() {
  const std::string refusal = open_clock("", 0);
  if (refusal.empty()) return;
  collector::LogEvent line{format::kLogCounters, collector::now(CLOCK_MONOTONIC)};
  line.reason = refusal.c_str();
  collector::write_log(directory_, *control_, line);
}

std::string Sampler::clock_refusal() const {
  const auto state = static_cast<State>(atomic(control_->state).load());
  const bool has_own = atomic(control_->clock).load() != 0;
  if (has_own || (state != State::armed && state != State::recording))
    return "the recording has begun already";
  return format::source_in(wanted_.settings) == format::ClockSource::automatic
             ? outside::KernelClock::is_too_dear()
             : "";
}

// executable: of a process that is still to execute it. period: 0: without a clock.
std::string Sampler::open_clock(const std::string& executable, std::uint64_t period) {
  std::string fault;
  clock_ = outside::KernelClock::open(
      {{wanted_.pid, process_.own_number(), period,
        static_cast<std::uint32_t>(wanted_.settings[Setting::depth])},
       wanted_.directory.c_str(),
       alone_,
       executable,
       period == 0 || format::source_in(wanted_.settings) == format::ClockSource::kernel
           ? 0
           : format::place_interval(wanted_.settings),
       wanted_.settings[Setting::synctrace] != 0,
       wanted_.settings[Setting::waits] != 0,
       wanted_.counters,
       mail_},
      *control_, fault);
  if (!clock_ || (period == 0 && !alone_)) return fault;
  const auto kind = clock_->sees_kernel() ? format::Clock::kernel : format::Clock::user;
  atomic(control_->clock).store(static_cast<std::uint32_t>(kind));
  return "";
}

// Returns false if the process ends without having executed the program.
bool Sampler::await_exec() {
  constexpr int kLook = 1;  // ms
  while (clock_->awaits_exec()) {
    clock_->look_ahead();
    pollfd end{process_end_, POLLIN, 0};
    const bool has_ended = poll(&end, 1, kLook) != 0;
    clock_->drain(has_ended);
    if (has_ended && clock_->awaits_exec()) return false;
  }
  return true;
}

void Sampler::begin_alone() {
  process_ = TargetProcess(wanted_.pid);  // another program may run in it than before
  const std::uint64_t at =
      clock_->executed_at() != 0 ? clock_->executed_at() : collector::now(CLOCK_MONOTONIC);
  const bool is_delayed = wanted_.settings[Setting::delay] != 0;
  if (wanted_.settings[Setting::paused] != 0 || is_delayed) {
    collector::pause(*control_,
                     is_delayed ? format::PauseReason::delay : format::PauseReason::asked);
    collector::write_log(directory_, *control_, {format::kLogPause, at});
  }
  alone_->begin(at);
  take_sample(format::SampleEvent::start, "");
}

// The samples say how much of its CPU time a process has used if the events do not.
void Sampler::end_alone() {
  if (has_executed()) atomic(control_->replacing).store(1);
  alone_->end(collector::now(CLOCK_MONOTONIC), has_executed() ? 0 : clock_->cpu_used());
  collector::write_log(directory_, *control_, {"end", collector::now(CLOCK_MONOTONIC)});
}

}  // namespace gnomon::sampler
