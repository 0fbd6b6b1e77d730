// What the threads of another process wait for. In gnomon-sampler.
#include "libcollector/outside/waiting.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "libcollector/core/small_file.h"
#include "libcollector/core/time.h"
#include "libcollector/outside/process_facts.h"

namespace gnomon::outside {
namespace {

using collector::kSecond;

// Primes, so that no program of a regular course keeps step with them.
constexpr std::array<std::uint64_t, 6> kPeriods{1, 7, 29, 113, 499, 1999};
// A second. A record costs the program 1 us, a sample 5.
constexpr std::uint64_t kMostSamples = 2000, kMostSwitches = 30'000;
constexpr std::uint64_t kBetween = kSecond / 10, kLeastPassed = kSecond / 500;  // ns
constexpr int kQuiet = 20;

std::uint64_t period_for(std::uint64_t switches) {
  for (const std::uint64_t period : kPeriods)
    if (switches / period <= kMostSamples) return period;
  return kPeriods.back();
}

// proc_pid_stat(5): R also while it waits for a CPU.
bool can_run(pid_t pid, std::uint32_t thread) {
  const std::string path = std::string("/proc/")
                               .append(std::to_string(pid))
                               .append("/task/")
                               .append(std::to_string(thread))
                               .append("/stat");
  std::array<char, 512> text{};
  if (collector::read_small_file(path.c_str(), text.data(), text.size()) == 0) return false;
  const char* const behind = std::strrchr(text.data(), ')');
  return behind && std::strncmp(behind, ") R", 3) == 0;
}

}  // namespace

void Waiting::open(const Wanted& wanted, const Rings& rings) {
  wanted_ = wanted;
  open_events(wanted.sees_kernel ? 1 : 0, rings);
}

// A process that ends meanwhile has no more switches to tell.
void Waiting::open_events(std::uint64_t period, const Rings& rings) {
  period_ = period;
  const int error = events_.open({wanted_.pid, period, wanted_.stack_bytes}, rings);
  if (error != 0 && error != ESRCH)
    give_up(std::string("the kernel refuses to tell them: ").append(std::strerror(error)));
}

void Waiting::give_up(const std::string& why) {
  events_.close();
  states_.lose_switches();
  calls_.give_up(why);
}

void Waiting::on_exit(std::uint32_t thread, std::uint64_t time) {
  use_.note(time, states_.running());
  states_.on_exit(thread, time);
}

void Waiting::begin_use(std::uint64_t time) {
  cpu_set_t cpus;
  const bool is_known = sched_getaffinity(wanted_.pid, sizeof cpus, &cpus) == 0;
  use_.begin(time,
             is_known && wanted_.tells_use ? static_cast<std::uint32_t>(CPU_COUNT(&cpus)) : 0);
}

void Waiting::tell_use(std::uint64_t time, bool is_all) {
  constexpr std::uint64_t kStretch = 10'000'000;  // ns
  if (!states_.has_switches()) return;
  use_.note(time, states_.running());
  if (const auto stretch = use_.take(is_all ? 0 : kStretch)) calls_.put_use(*stretch);
}

void Waiting::on_switch(const perf_event_header& record) {
  const Origin origin = origin_of(record);
  if (origin.process != static_cast<std::uint32_t>(wanted_.pid)) return;
  use_.note(origin.time, states_.running());
  if (!(record.misc & PERF_RECORD_MISC_SWITCH_OUT))
    return states_.on_in(origin.thread, origin.time);
  ++switches_;
  states_.on_out(origin.thread, origin.time, record.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
}

bool Waiting::on_sample(const Sample& sample) {
  if (!is_sample(sample.origin)) return false;
  on_place(sample);
  return true;
}

void Waiting::on_place(const Sample& sample) {
  if (sample.origin.process == static_cast<std::uint32_t>(wanted_.pid))
    states_.on_place(sample.origin.thread, sample.origin.time, calls_.place_of(sample));
}

WaitPlace Waiting::place_under_way(std::uint32_t thread) {
  Sample sample;
  if (!under_way_.look(thread, sample)) return {};
  const std::uint32_t stack = calls_.place_under_way(sample);
  return stack == 0 ? WaitPlace{} : WaitPlace{stack, under_way_.reason()};
}

void Waiting::begin(std::uint32_t thread, const ThreadTimes& times, bool is_asked) {
  const bool is_on = can_run(wanted_.pid, thread);
  states_.begin(thread, times, is_on, is_on || !is_asked ? WaitPlace{} : place_under_way(thread));
}

void Waiting::put(const std::vector<OffCpu>& told) const {
  for (const OffCpu& each : told) calls_.put(each);
}

void Waiting::tell(std::uint32_t thread, const ThreadTimes& times, bool is_all) {
  put(states_.tell(thread, times, is_all));
}

void Waiting::end(std::uint32_t thread, std::uint64_t cpu, std::uint64_t time) {
  put(states_.end(thread, cpu, time));
}

// If there are too many samples, fewer are asked for at once; if there could be more, only once the
// rate of switches has been low for a while.
void Waiting::adapt(std::uint64_t now, const Rings& rings) {
  if (looked_at_ == 0) looked_at_ = now;
  const std::uint64_t passed = now - looked_at_;
  const bool is_burst = period_ != 0 && switches_ > 4 * kMostSamples * kBetween / kSecond * period_;
  if ((passed < kBetween && !is_burst) || !events_.is_open()) return;
  const std::uint64_t rate = switches_ * kSecond / std::max(passed, kLeastPassed);
  looked_at_ = now;
  switches_ = 0;
  if (rate > kMostSwitches && passed >= kBetween)
    return give_up(
        std::string("they came ").append(std::to_string(rate)).append(" times a second"));
  const std::uint64_t fitting = period_for(rate);
  quiet_looks_ = fitting < period_ ? quiet_looks_ + 1 : 0;
  if (period_ == 0 || fitting == period_ || (fitting < period_ && quiet_looks_ < kQuiet)) return;
  quiet_looks_ = 0;
  open_events(fitting, rings);
}

}  // namespace gnomon::outside
