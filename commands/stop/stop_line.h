// What a process used of the machine between two instants at which a debugger held it: the line
// that `stop-line` prints. Any thread; calls exclude each other.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libcollector/format/settings.h"
#include "reader/analysis/analysis.h"
#include "reader/metrics/metric.h"

namespace gnomon::commands {

class StopLine {
 public:
  // The process is held and will run on in a moment: the span begins.
  void resumed(pid_t pid);
  // The process is held again: the span ends, and the next one begins unless `resumed` is called.
  // thread: that the debugger shows. directory: of the process's experiment; empty: it is not
  // recorded. is_ours: the debugger has launched the process; without a stop before, its whole life
  // is the span. Returns a line; empty: nothing is known of a span. What stands behind <= may be
  // less: when the process ran on is not known.
  std::string stopped(pid_t pid, pid_t thread, const std::string& directory, bool is_ours);
  // What that returned last.
  std::string last();

 private:
  struct Recorded {
    std::map<reader::MetricId, std::uint64_t> totals;
    format::SettingValues settings;
  };
  struct Instant {
    pid_t pid = 0;
    bool is_exact = false;                        // the process ran on at that time
    std::uint64_t time = 0;                       // CLOCK_MONOTONIC, ns; 0: not known
    std::optional<std::uint64_t> cpu = {};        // of the process, ns; none: not known
    std::map<pid_t, std::uint64_t> threads = {};  // likewise, of the threads
    std::optional<Recorded> recorded = {};        // so far; none: not known
  };
  static Instant read_clocks(pid_t pid);
  static std::string recorded_text(const Recorded& begin, const Recorded& end);
  static std::string line(const Instant& begin, const Instant& end, pid_t thread);
  std::optional<Recorded> recorded_in(const std::string& directory);

  std::mutex mutex_;
  std::optional<Instant> begin_;
  std::string last_;
  std::string directory_;
  std::unique_ptr<reader::Analysis> analysis_;
};

}  // namespace gnomon::commands
