// Watches one recording from outside: takes samples, serves the mailbox, notices the end. In
// gnomon-sampler, main thread unless noted.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcollector/format/control.h"
#include "libcollector/format/counters.h"
#include "libcollector/outside/kernel_clock.h"
#include "libcollector/record/experiment_directory.h"
#include "libcollector/record/recorder.h"
#include "libcollector/sampler/alone.h"
#include "libcollector/sampler/limits.h"
#include "libcollector/sampler/target_process.h"

namespace gnomon::sampler {

struct Wanted {
  std::string directory;  // of the experiment; empty: to be made
  pid_t pid = 0;          // of the recorded process, as this program knows it
  std::uint64_t session = 0;
  format::SettingValues settings;
  std::vector<format::Counter> counters;
};

class Sampler {
 public:
  // Opens the experiment and the process. Returns null and sets `fault` to a clause that says why
  // the recording cannot be watched.
  static std::unique_ptr<Sampler> open(const Wanted& wanted, std::string& fault);

  // Makes the experiment and begins to sample the process, into which nothing else comes. Returns
  // null and sets `fault` to a clause that says why that is not possible.
  static std::unique_ptr<Sampler> open_alone(const Wanted& wanted, const Alone& alone,
                                             std::string& fault);
  const char* directory() const { return directory_.path(); }

  // Takes the clock's samples if the settings say so and the kernel allows it. The recording has
  // not begun. Returns "", or a clause that says why not: then the process itself does.
  std::string open_clock();

  // Returns when the recording or the process has ended, or another program runs in it.
  void run();

 private:
  Sampler(Wanted wanted)
      : wanted_(std::move(wanted)),
        period_(wanted_.settings[format::Setting::sample_period]),
        process_(wanted_.pid) {}

  enum class Goes { on, ended };
  bool open_process(std::string& fault);
  std::string open_clock(const std::string& executable, std::uint64_t period);
  std::string clock_refusal() const;
  void open_counters();
  std::string watch(format::Verb verb, const char* label);
  bool await_beginning();
  bool await_exec();
  void begin_alone();
  void end_alone();
  void watch();
  void record();
  Goes wait();
  void drain_clock(bool is_still);
  Goes on_process_end();
  Goes on_mail();
  Goes on_time();
  Goes on_limits(std::uint64_t at);
  void take_sample(format::SampleEvent event, const char* label);
  bool is_over() const;
  bool has_executed() const;
  std::uint64_t cpu_time_by_clock() const;
  int milliseconds_to_sleep() const;
  // On a thread of its own: passes what comes into the mailbox on to the main thread.
  void forward_mail();

  Wanted wanted_;
  std::uint64_t period_;  // ns; 0: no periodic samples
  TargetProcess process_;
  collector::ExperimentDirectory directory_{};
  format::ControlPage* control_ = nullptr;
  collector::Recorder* alone_ = nullptr;  // what writes the experiment; null: the process does
  std::optional<Limits> limits_;
  std::unique_ptr<outside::KernelClock>
      clock_;               // null: the process takes the clock's samples, and nothing is counted
  bool clock_runs_ = true;  // it had something to tell a moment ago
  std::uint64_t next_sample_ = 0;  // CLOCK_MONOTONIC, ns
  std::uint32_t seen_ = 0;         // mailbox: number of the last request carried out
  int process_end_ = -1;           // a pidfd
  int mail_ = -1;                  // an eventfd
};

}  // namespace gnomon::sampler
