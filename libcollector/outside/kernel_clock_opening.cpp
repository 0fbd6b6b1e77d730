// How a KernelClock begins. In gnomon-sampler.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "libcollector/core/atomic.h"
#include "libcollector/core/time.h"
#include "libcollector/format/names.h"
#include "libcollector/outside/kernel_clock.h"
#include "libcollector/outside/process_facts.h"
#include "libcollector/record/log.h"

namespace gnomon::outside {

using collector::atomic;
namespace {

constinit collector::Recorder joined = {};  // a Recorder lives in zeroed memory

// Events are many; the soft limit may be low.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

KernelClock::KernelClock(const Wanted& wanted, format::ControlPage& page)
    : wanted_(wanted),
      page_(page),
      rests_(wanted.pid, wanted.period, calls_of_rests()),
      recorder_(wanted.alone ? *wanted.alone : joined),
      objects_(wanted.pid, recorder_),
      writer_(wanted, recorder_, objects_, page),
      waiting_(wanted.pid, calls_of_waiting()),
      counting_(wanted.pid, writer_, calls_of_counting()) {}

CpuRests::Calls KernelClock::calls_of_rests() {
  CpuRests::Calls calls;
  calls.tell = [this](const Rest& rest, std::uint64_t time) { put_rest(rest, time); };
  calls.end_of = [this](std::uint32_t thread) { return end_of(thread); };
  calls.split = [this](const Rest& rest) {
    return kernel_time_.split(rest, writer_.number_of(rest.thread));
  };
  calls.begins = [this](std::uint32_t thread, const ThreadTimes& times) {
    untold_.erase(thread);
    waiting_.begin(thread, times, has_begun_);
  };
  calls.looked = [this](std::uint32_t thread, const ThreadTimes& times, bool is_all) {
    if (!is_all && sees_kernel() && !writer_.has_reasons_at_hand()) {
      untold_[thread].push_back(times);
      return;
    }
    tell_untold(thread);
    waiting_.tell(thread, times, is_all);
  };
  calls.ends = [this](std::uint32_t thread, std::uint64_t cpu, std::uint64_t time) {
    tell_untold(thread);
    waiting_.end(thread, cpu, time);
  };
  return calls;
}

void KernelClock::tell_untold(std::uint32_t thread) {
  const auto looks = untold_.extract(thread);
  if (looks.empty()) return;
  for (const ThreadTimes& times : looks.mapped()) waiting_.tell(thread, times, false);
}

Waiting::Calls KernelClock::calls_of_waiting() {
  Waiting::Calls calls;
  calls.put = [this](const OffCpu& off) { put_off(off); };
  calls.place_of = [this](const Sample& sample) {
    return is_of_recording(sample.origin.time) ? writer_.place_of_switch(sample) : 0;
  };
  calls.place_under_way = [this](const Sample& sample) { return writer_.place_of(sample); };
  calls.reason_of = [this](std::uint32_t stack) { return writer_.reason_of(stack); };
  calls.call_of = [this](std::uint32_t thread, std::uint64_t begin, std::uint64_t end) {
    return called_waits_.find(thread, writer_.number_of(thread), begin, end);
  };
  calls.put_use = [this](const CpuUse::Stretch& stretch) {
    if (is_of_recording(stretch.end)) writer_.put(stretch);
  };
  calls.give_up = [this](const std::string& why) { log(format::kLogWaiting, why); };
  return calls;
}

void KernelClock::log(const char* event, const std::string& reason) {
  collector::LogEvent line{event, collector::now(CLOCK_MONOTONIC)};
  line.reason = reason.c_str();
  collector::write_log(recorder_.directory(), page_, line);
}

Counting::Calls KernelClock::calls_of_counting() {
  Counting::Calls calls;
  calls.is_of_recording = [this](std::uint64_t time) { return is_of_recording(time); };
  calls.note = [this](const char* file, std::string_view line) {
    collector::append_text({recorder_.directory(), file}, line.data(), line.size());
  };
  calls.session = [this] { return page_.session; };
  return calls;
}

std::string KernelClock::watch(format::Watch& watch) {
  std::string refused = counting_.watch(watch, rings_);
  atomic(page_.watches).store(counting_.watches());
  return refused;
}

bool KernelClock::unwatch(std::uint32_t number) {
  return counting_.unwatch(number, collector::now(CLOCK_MONOTONIC));
}

bool KernelClock::join(std::string& fault) {
  if (wanted_.alone) return open_storage(fault);
  if (const int error = recorder_.directory().open_path(wanted_.directory); error != 0) {
    fault = std::string("the experiment cannot be opened: ").append(std::strerror(error));
    return false;
  }
  if (!recorder_.join(page_)) {
    fault = "the experiment is complete";
    return false;
  }
  ended_threads_.open(recorder_.directory());
  if (wanted_.places != 0 && !sees_kernel()) {
    kernel_time_.open(recorder_.directory(), wanted_.places);
    rests_.hold_system(2 * wanted_.places);
  }
  if (wanted_.tells_calls && !sees_kernel()) {
    called_waits_.open(recorder_.directory());
    waiting_.await_calls();
  }
  return open_storage(fault);
}

bool KernelClock::open_storage(std::string& fault) {
  const collector::Range opened = recorder_.open_storage(1);
  if (!opened.at)
    fault = std::string("the experiment cannot be written: ").append(std::strerror(opened.error));
  return opened.at != nullptr;
}

std::string KernelClock::open_events() {
  raise_descriptor_limit();
  if (const int error = open_rings(rings_); error != 0) return refusal_of_rings(error);
  size_ = CopySize(wanted_.period, rings_.front().bytes());
  events_ = std::make_unique<ClockEvents>();
  const int error = events_->open(wanted_events(), ClockEvents::Begin::now, rings_);
  return error == 0 ? "" : refusal_of_events(error, rights_to(wanted_.pid));
}

// Before anything that takes time: the events write already.
void KernelClock::begin_emptying() {
  std::thread([rings = shared_rings_, wake = wanted_.wake] {
    keep_emptying(*rings, wake);
  }).detach();
}

std::string KernelClock::probe(pid_t pid, std::uint64_t period, bool& sees_kernel) {
  raise_descriptor_limit();
  Rings rings;
  if (const int error = open_rings(rings); error != 0) return refusal_of_rings(error);
  ClockEvents events;
  const int error = events.open({pid, period, CopySize(period, rings.front().bytes()).bytes()},
                                ClockEvents::Begin::idle, rings);
  sees_kernel = events.sees_kernel();
  return error == 0 ? "" : refusal_of_events(error, rights_to(pid));
}

// A thread that is made gets an event for each CPU, which takes about 4 us.
std::string KernelClock::is_too_dear() {
  constexpr long kMostCpus = 16;
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (cpus <= kMostCpus) return "";
  return std::string("each new thread would get an event for each of ")
      .append(std::to_string(cpus))
      .append(
          " CPUs, which takes longer than making it: `profile source kernel` takes the kernel's "
          "clock all the same");
}

std::unique_ptr<KernelClock> KernelClock::open(const Wanted& wanted, format::ControlPage& page,
                                               std::string& fault) {
  std::unique_ptr<KernelClock> clock(new KernelClock(wanted, page));
  survive_cut_files();
  if (wanted.executable.empty()) clock->cpu_at_begin_ = cpu_time_of(wanted.pid);
  fault = clock->open_events();
  if (!fault.empty()) return nullptr;
  clock->begin_emptying();
  if (clock->sees_kernel()) clock->rests_.see_kernel();
  if (!clock->writer_.open()) {
    fault = "memory is short";
    return nullptr;
  }
  if (!clock->join(fault)) return nullptr;
  const std::string uncounted = clock->counting_.open(
      wanted.counters, clock->size_.bytes_of_others(), !wanted.executable.empty(), clock->rings_);
  atomic(clock->page_.counters).store(clock->counting_.counters());
  if (!uncounted.empty()) clock->log(format::kLogCounters, uncounted);
  if (clock->is_clock())
    clock->waiting_.open(
        {wanted.pid, clock->sees_kernel(), wanted.tells_use, clock->size_.bytes_of_others()},
        clock->rings_);
  if (wanted.executable.empty() && !clock->objects_.read()) {
    fault = "the mappings of the process cannot be read";
    return nullptr;
  }
  clock->look_ahead();
  return clock;
}

}  // namespace gnomon::outside
