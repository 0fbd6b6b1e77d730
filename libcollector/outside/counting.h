// What is counted in another process besides its time: events of counters, accesses to objects and
// calls of functions. In gnomon-sampler.
#pragma once
#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcollector/core/json_line.h"
#include "libcollector/format/counters.h"
#include "libcollector/format/watches.h"
#include "libcollector/outside/count_balance.h"
#include "libcollector/outside/counter_events.h"
#include "libcollector/outside/record.h"
#include "libcollector/outside/ring.h"
#include "libcollector/outside/sample_writer.h"
#include "libcollector/outside/watch_hits.h"

namespace gnomon::outside {

// Each counter has a line in kCountersFile, and each watch one in kWatchesFile. Later lines of the
// same number say what became of it.
class Counting {
 public:
  struct Calls {
    std::function<bool(std::uint64_t time)> is_of_recording;
    // Adds a line to a file of the experiment.
    std::function<void(const char* file, std::string_view line)> note;
    std::function<std::uint64_t()> session;
  };
  Counting(pid_t pid, SampleWriter& writer, Calls calls)
      : pid_(pid), writer_(writer), calls_(std::move(calls)) {}

  // Opens the counters. They count from the moment on at which the process executes a program, if
  // it is still to (is_to_execute), else until that.
  // Returns "", or a clause that says which cannot be counted, and why.
  std::string open(const std::vector<format::Counter>& counters, std::uint32_t stack_bytes,
                   bool is_to_execute, const Rings& rings);
  // Begins to watch, and sets the number. Returns "", or a clause that says why that is not
  // possible.
  std::string watch(format::Watch& watch, const Rings& rings);
  // Watches an object or function no more. Returns false if it is not watched.
  bool unwatch(std::uint32_t number, std::uint64_t time);
  bool is_empty() const { return sources_.empty(); }
  // So many have a line that begins them in kCountersFile, and in kWatchesFile.
  std::uint32_t counters() const { return counters_; }
  std::uint32_t watches() const { return watches_; }

  // The rings are about to be read.
  void look_for_traps();
  // Returns false if the record is not of what is counted here.
  bool on_sample(const Sample& sample);
  // Returns which of the kernel's own events (PERF_COUNT_SW_...) the sample's event counts. Returns
  // nothing if it counts another one, or is not open here.
  std::optional<std::uint64_t> software_of(const Origin& sample);
  // A sample of such an event, which has another event's number (see Twins).
  void on_twin(const Sample& sample, std::uint64_t software);
  // Returns true if the clock's tick came while the thread was held for a hit of a watch.
  bool is_held(const Sample& tick) const { return hits_.holds(tick); }
  void on_throttle(const Origin& record);
  void on_thread_end(std::uint32_t thread);
  // A debugger, or a signal, holds all threads of the process.
  void mark_stopped();

  // The recording begins, or goes on; is_anew: what was counted up to now is not of it. It pauses.
  void begin(bool is_anew);
  void pause();
  // Tells what was counted up to now and is not told yet. time: CLOCK_MONOTONIC, ns.
  void tell(std::uint64_t time, bool is_last);
  void close();

 private:
  // A thread's latest call of a function that is watched.
  struct Call {
    std::uint64_t registers[17];
    bool stands = false;    // the thread was stopped before it went on
    bool is_first = false;  // not seen for the second time
  };
  struct Source {
    explicit Source(std::uint64_t interval) : balance(interval) {}
    std::uint8_t kind = 0;                  // of its events
    std::uint32_t number = 0;               // of the counter or the watch
    std::uint64_t address = 0;              // of a function
    double scale = 1;                       // what one count weighs
    std::optional<std::uint64_t> software;  // PERF_COUNT_SW_...
    CounterEvents events;
    CountBalance balance;
    CounterEvents::Figures seen;  // last
    std::uint64_t throttles = 0, doubled = 0, told_throttles = 0;
    std::unordered_map<std::uint32_t, Call> calls;  // by thread
    int traps = 0;  // looks for which a debugger's breakpoint at the function still counts
    bool is_of_processor = false;  // so that it may have to share a counter
    std::uint64_t hit_cost = 0;    // of a watch: how long a hit holds its thread, ns; 0: not known
    bool is_watch() const { return kind != 0 && kind < format::kFirstCounter; }
    bool is_call() const { return kind == format::kCall; }
  };
  std::string refusal_of(int error, bool is_watch) const;
  Source* source_of(const Origin& record);
  void take(Source& source, const Sample& sample);
  std::string open_one(const format::Counter& counter, std::uint32_t stack_bytes,
                       bool is_to_execute, const Rings& rings);
  void note(const char* file, collector::JsonLine& line, const char* text) const;
  void write_counter(const Source& source, const format::Counter& counter, std::uint64_t mhz);
  void write_watch(const format::Watch& watch, std::uint64_t hit_cost);
  void write_figures(Source& source, bool is_last);
  void look(Source& source);
  bool open_always(const Rings& rings);
  void tell_one(Source& source, std::uint64_t time, bool is_last);
  bool is_double(Source& source, const Sample& sample);

  pid_t pid_;
  SampleWriter& writer_;
  Calls calls_;
  std::vector<std::unique_ptr<Source>> sources_;
  // An event that always has what it needs: so long the threads ran.
  CounterEvents always_;
  std::uint32_t counters_ = 0, watches_ = 0;  // that have been begun
  WatchHits hits_;                            // of watches that record every hit
  bool is_on_ = false;                        // what is counted is of the recording
};

}  // namespace gnomon::outside
