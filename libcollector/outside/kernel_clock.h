// The clock that samples another process from outside, by the kernel's rings: no signal, nothing
// that its debugger sees. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcollector/format/settings.h"
#include "libcollector/outside/clock_events.h"
#include "libcollector/outside/process_objects.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"
#include "libcollector/record/recorder.h"
#include "libcollector/unwind/unwinder.h"

namespace gnomon::outside {

class KernelClock {
 public:
  struct Wanted {
    pid_t pid;                 // of the recorded process, as this program knows it
    std::uint32_t own_number;  // as the process knows itself
    const char* directory;     // of the experiment
    std::uint64_t period;      // ns of CPU time
    std::uint32_t depth;       // frames
  };
  // Begins to sample, and takes part in writing the experiment; what comes before the recording has
  // begun is left out. Returns null and sets `fault` to a clause that says why that is not
  // possible. One a process.
  static std::unique_ptr<KernelClock> open(const Wanted& wanted, format::ControlPage& page,
                                           std::string& fault);

  // keep_emptying() may take them while this clock is used.
  Rings& rings() { return rings_; }
  // Records what the rings hold. is_still: nothing is written into them meanwhile, because the
  // process stands or has ended; else the youngest of it is left for the next time, so that all is
  // recorded in the order of time. Returns true if there was a sample.
  bool drain(bool is_still);
  // Ends the clock, records the rest and leaves the experiment.
  void end();
  bool sees_kernel() const { return events_.sees_kernel(); }

 private:
  KernelClock(const Wanted& wanted, format::ControlPage& page);
  bool join(std::string& fault);
  // The ring whose front is the oldest record; null: all are empty.
  Ring* oldest(std::uint64_t before);
  void take(const perf_event_header& record);
  void on_sample(const Sample& sample);
  std::uint32_t stack_of(const Sample& sample, std::uint32_t epoch, collector::Writer& writer);
  std::uint32_t number_of(std::uint32_t thread);
  bool is_of_recording(const Sample& sample) const;
  void count_lost();

  Wanted wanted_;
  format::ControlPage& page_;
  Rings rings_;
  ClockEvents events_;
  collector::Recorder& recorder_;
  ProcessObjects objects_;
  collector::Unwinder unwinder_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // of threads, as the process has them
  std::uint64_t drained_ = 0;       // to here the rings were looked at last, CLOCK_MONOTONIC, ns
  std::uint64_t paused_until_ = 0;  // likewise: what is older is not to be recorded
  std::uint64_t lost_ = 0;          // counted already
  std::uint64_t lost_in_records_ = 0;
  bool was_paused_ = false, has_executed_ = false, saw_sample_ = false;
};

}  // namespace gnomon::outside
