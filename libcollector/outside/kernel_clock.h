// The clock that samples another process from outside, by the kernel's rings: no signal, nothing
// that its debugger sees. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libcollector/format/settings.h"
#include "libcollector/outside/called_waits.h"
#include "libcollector/outside/clock_events.h"
#include "libcollector/outside/copy_size.h"
#include "libcollector/outside/counting.h"
#include "libcollector/outside/cpu_rests.h"
#include "libcollector/outside/kernel_time.h"
#include "libcollector/outside/process_objects.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"
#include "libcollector/outside/sample_writer.h"
#include "libcollector/outside/twins.h"
#include "libcollector/outside/waiting.h"
#include "libcollector/record/ended_threads.h"
#include "libcollector/record/recorder.h"

namespace gnomon::outside {

// With a period of 0 no clock, but what reads the rings for counters and watches.
class KernelClock {
 public:
  struct Wanted : SampleWriter::Wanted {
    // Of the experiment, to which a collector in the process writes as well.
    const char* directory;
    // Or what alone writes the experiment; null: nothing.
    collector::Recorder* alone = nullptr;
    // Of a process that is still to execute it; empty: it runs.
    std::string executable = {};
    // CPU time between two ticks of a thread's own, ns, which tell where time in the kernel goes
    // that this clock does not see; 0: there are none.
    std::uint64_t places = 0;
    // How the process uses its CPUs is recorded.
    bool tells_use = false;
    // The process tells calls in which its threads wait long.
    bool tells_calls = false;
    // What is counted besides.
    std::vector<format::Counter> counters = {};
    // An eventfd, to which 1 is added when records wait to be drained.
    int wake = -1;
  };
  // Begins to sample, and takes part in writing the experiment; what comes before the recording has
  // begun is left out. Returns null and sets `fault` to a clause that says why that is not
  // possible. One a process.
  static std::unique_ptr<KernelClock> open(const Wanted& wanted, format::ControlPage& page,
                                           std::string& fault);
  // Returns why the kernel would not sample a process at present, in a clause; empty: it would.
  // sees_kernel: whether time in the kernel as well.
  static std::string probe(pid_t pid, std::uint64_t period, bool& sees_kernel);
  // Returns why that clock costs a process more on this machine than one would take without being
  // asked, in a clause; empty: it does not.
  static std::string is_too_dear();

  // To be called while the process waits for the recording to begin.
  void look_ahead() {
    if (is_clock()) rests_.look_ahead();
  }
  // Records what the rings hold. is_still: nothing is written into them meanwhile, because the
  // process stands or has ended; else the youngest of it is left for the next time, so that all is
  // recorded in the order of time. Returns true if there was a sample, or
  // the end of a thread.
  bool drain(bool is_still);
  // Ends the clock, records the rest and leaves the experiment, unless this program alone writes
  // that.
  void end();
  bool sees_kernel() const { return events_->sees_kernel(); }
  bool is_clock() const { return wanted_.period != 0; }
  // See Counting. While the process runs, or stands.
  std::string watch(format::Watch& watch);
  bool unwatch(std::uint32_t number);
  // The debugger, or a signal, holds all threads of the process: to be called before drain().
  void note_stop() { is_stopped_ = true; }
  // The next drain() leaves nothing for later that it can record.
  void tell_all() { tells_all_ = true; }
  // Names the kernel's functions for readers, as far as they have been met.
  void name_kernel() { writer_.name_kernel(); }
  // Returns the CPU time that the process has used since the clock began, ns, as the events have
  // counted it; they tell it of a process that its parent has waited for, too. 0: not known, as
  // they have counted child processes as well, or have replaced others.
  std::uint64_t cpu_used() const;
  // What it had used before.
  std::uint64_t cpu_at_begin() const { return cpu_at_begin_; }
  // Returns true while the process has not executed the program that it is to execute. drain()
  // goes no further than there.
  bool awaits_exec() const { return !wanted_.executable.empty() && executed_at_ == 0; }
  // When it did, CLOCK_MONOTONIC, ns; 0: it was to execute none.
  std::uint64_t executed_at() const { return executed_at_; }
  // Returns true if another program runs in the process since.
  bool has_executed() const { return has_executed_; }

 private:
  KernelClock(const Wanted& wanted, format::ControlPage& page);
  ClockEvents::Wanted wanted_events() const;
  CpuRests::End end_of(std::uint32_t thread);
  std::string open_events();
  void begin_emptying();
  bool join(std::string& fault);
  bool open_storage(std::string& fault);
  // The ring whose front is the oldest record; null: all are empty.
  Ring* oldest(std::uint64_t before);
  void take(const perf_event_header& record);
  void on_sample(const Sample& sample);
  void on_twin(const Sample& sample);
  void on_fault(const Sample& sample);
  bool is_of_recording(std::uint64_t time) const;
  void end_rests();
  void put_rest(Rest rest, std::uint64_t time);
  void put_off(OffCpu off);
  bool is_own(std::uint32_t process) const {
    return process == static_cast<std::uint32_t>(wanted_.pid);
  }
  std::uint16_t parallelism() const;
  CpuRests::Calls calls_of_rests();
  void tell_untold(std::uint32_t thread);
  Waiting::Calls calls_of_waiting();
  Counting::Calls calls_of_counting();
  void log(const char* event, const std::string& reason);
  void follow_pauses(bool is_paused, std::uint64_t now);
  void on_name(const perf_event_header& record);
  void on_exec(std::uint64_t time);
  void on_thread_end(const TaskChange& change, std::uint64_t time);
  void settle_threads(std::uint64_t before);
  void count_lost();
  // Another size of copies needs other events.
  void adapt_size(std::uint64_t now);
  bool replace_events();

  Wanted wanted_;
  format::ControlPage& page_;
  // A thread of its own empties them for ever.
  const std::shared_ptr<Rings> shared_rings_ = std::make_shared<Rings>();
  Rings& rings_ = *shared_rings_;
  CopySize size_{0, 0};
  std::unique_ptr<ClockEvents> events_;
  CpuRests rests_;
  // By thread: looks at its times before it was known what kernel functions wait for.
  std::unordered_map<std::uint32_t, std::vector<ThreadTimes>> untold_;
  KernelTime kernel_time_;
  CalledWaits called_waits_;
  collector::Recorder& recorder_;
  collector::EndedThreads ended_threads_{};
  ProcessObjects objects_;
  SampleWriter writer_;
  Waiting waiting_;
  Twins twins_;
  Counting counting_;
  std::uint64_t drained_ = 0;       // to here the rings were looked at last, CLOCK_MONOTONIC, ns
  std::uint64_t paused_until_ = 0;  // likewise: what is older is not to be recorded
  std::uint64_t lost_ = 0;          // counted already
  std::uint64_t lost_in_records_ = 0;
  std::uint64_t lost_before_ = 0;  // by events that have been replaced
  std::uint64_t executed_at_ = 0;
  std::uint64_t cpu_at_begin_ = 0;                  // CPU time that the process had used before, ns
  std::unordered_set<std::uint32_t> of_collector_;  // threads of the process, alive or ended
  CopySize::Seen seen_;                             // since the size was looked at last
  std::uint64_t lost_then_ = 0;                     // lost_ at that time
  std::uint64_t next_size_ = 0;  // when it is looked at next, CLOCK_MONOTONIC, ns
  bool tells_all_ = false, is_stopped_ = false;
  bool was_paused_ = false, has_begun_ = false, has_executed_ = false, saw_news_ = false;
  std::uint64_t cpu_at_end_ = 0;  // cpu_used() of then
  bool ends_ = false, has_ended_ = false;
  bool has_children_ = false, has_replaced_ = false;  // events, by those of another size
};

}  // namespace gnomon::outside
