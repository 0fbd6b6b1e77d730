// The result of an attach or a release, and its text. Any thread.
#include "injector/attach/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "injector/attach/remote/remote_process.h"
#include "injector/base/outside.h"
#include "injector/base/sampler.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

std::string count(std::uint32_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

bool is_of_program(pid_t pid, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", pid, thread));
  std::string name;
  return std::getline(file, name) && name != format::kFilesThread;
}

// Without the collector's own, which are there for moments, and have no name of theirs at first.
std::uint32_t threads_of_program(pid_t pid) {
  constexpr std::chrono::milliseconds kMoment{2};
  const auto before = threads_of(pid);
  std::this_thread::sleep_for(kMoment);
  return static_cast<std::uint32_t>(std::count_if(
      before.begin(), before.end(), [pid](pid_t thread) { return is_of_program(pid, thread); }));
}

// Says which threads are not sampled; empty if all are, future ones included.
std::string not_sampled(const AttachResult& result) {
  if (result.clock != AttachResult::Clock::threads) return "";
  std::vector<std::string> what;
  if (result.blocking != 0)
    what.push_back(fmt::format("{} now blocking SIGPROF or in a signal handler",
                               count(result.blocking, "thread")));
  if (result.refused != 0)
    what.push_back(fmt::format("{} for want of timers (see `ulimit -i`) or memory",
                               count(result.refused, "thread")));
  if (!result.thread_maker.empty())
    what.push_back(
        fmt::format("threads created from now on by {}, which has a pthread_create of its own",
                    result.thread_maker));
  if (result.unbound != 0)
    what.push_back(fmt::format("threads created from now on at {} in memory that cannot be changed",
                               count(result.unbound, "place")));
  return what.empty() ? "" : fmt::format("Not sampled: {}.\n", fmt::join(what, ", and "));
}

std::string clock_of(const AttachResult& result) {
  if (result.clock == AttachResult::Clock::off) return "samples alone, as the clock is off";
  const std::string threads = count(result.threads, "thread");
  if (result.clock == AttachResult::Clock::kernel) return threads + ", by the kernel's clock";
  if (result.clock == AttachResult::Clock::hybrid)
    return threads + ", by the kernel's clock, and their system calls by signals";
  return threads + (result.threads == 1 ? ", by its CPU clock" : ", by their CPU clocks");
}

std::string lines_from_outside(const AttachResult& result, pid_t pid) {
  return fmt::format("Recording process {} to {} from outside, by the kernel's clock: {}.\n{}", pid,
                     result.experiment, result.outside, result.failed);
}

std::string lines_of(const AttachResult& result, pid_t pid) {
  if (!result.outside.empty()) return lines_from_outside(result, pid);
  std::string text =
      fmt::format("Recording process {} to {}: {}. ", pid, result.experiment, clock_of(result));
  text +=
      result.others_ran
          ? fmt::format("One thread at a time was stopped, for {:.1f} ms in all.\n", result.held_ms)
          : fmt::format("It was stopped for {:.0f} ms.\n", result.held_ms);
  text += not_sampled(result);
  text += result.failed;
  if (!result.runtime.empty()) text += result.runtime + "\n";
  if (result.moved)
    text += "The selected thread ran a little further: it was inside libc or the loader.\n";
  for (const std::string& thread : result.arrived)
    text += fmt::format("Meanwhile thread {}: it stays there until you continue.\n", thread);
  return text;
}

}  // namespace

void follow_attached(const Settings& settings, pid_t pid, const ClockChoice& choice,
                     AttachResult& result) {
  using Clock = AttachResult::Clock;
  const auto source = format::source_in(settings.values);
  const bool has_signals = source == format::ClockSource::hybrid;
  result.failed = choice.said;
  result.failed += follow_recording(settings, result.experiment, pid,
                                    has_signals ? OtherClock::signals : OtherClock::none);
  note_clock(settings, pid, choice.reason);
  result.clock = settings.values[format::Setting::profile] == 0 ? Clock::off
                 : source == format::ClockSource::signal        ? Clock::threads
                 : has_signals                                  ? Clock::hybrid
                                                                : Clock::kernel;
  if (result.clock == Clock::kernel || result.clock == Clock::hybrid)
    result.threads = threads_of_program(pid);
}

Result<AttachResult> or_from_outside(const Settings& settings, pid_t pid, const Fault& why) {
  if (!may_record_from_outside(settings) || !has_lasting_obstacle(pid)) return tl::unexpected(why);
  const auto experiment = record_from_outside(settings, program_of(pid), why);
  if (!experiment) return tl::unexpected(experiment.error());
  AttachResult result;
  result.experiment = *experiment;
  result.clock = AttachResult::Clock::kernel;
  result.outside = why.what;
  result.failed = note_experiment(settings, *experiment);
  return result;
}

Result<std::string> text_of(const Result<AttachResult>& result, pid_t pid) {
  if (result) return lines_of(*result, pid);
  return fault(fmt::format("cannot record process {}: {}", pid, result.error().what),
               result.error().next);
}

std::string release_text(const Result<AttachResult>& result) {
  constexpr std::string_view kStays =
      "Its calls still go through the collector, which forwards them";
  if (!result) return fmt::format("{}: {}\n", kStays, sentence(result.error()));
  std::string text;
  if (result->kept_threads != 0)
    text = fmt::format(
        "{} in the middle of a traced call: the last {} of it stay in the experiment's lanes, "
        "where reports find them.\n",
        result->kept_threads == 1 ? "A thread is" : count(result->kept_threads, "thread") + " are",
        count(result->kept_events, "event"));
  if (result->unbound != 0)
    text += fmt::format("{}, at {} in memory that cannot be changed.\n", kStays,
                        count(result->unbound, "place"));
  return text;
}

}  // namespace gnomon::injector
