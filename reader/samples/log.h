// log.jsonl of an experiment: the stops of the program that a debugger's user saw, and pauses of
// the recording. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/experiment/experiment.h"
#include "reader/experiment/json_lines.h"

namespace gnomon::reader {

struct Stop {
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  std::string reason;      // as the debugger puts it, "breakpoint 1.1"; may be empty
};

// Events are not recorded from `begin` on until `end`; CLOCK_MONOTONIC, ns.
struct Pause {
  static constexpr std::uint64_t kOpen = ~0ull;
  std::uint64_t begin = 0, end = kOpen;
};

class Log {
 public:
  // Reads the lines that were added since the last call. A missing file has none.
  void read_new(const Experiment& experiment);

  // In the order of time.
  const std::vector<Stop>& stops() const { return stops_; }
  // In the order of time.
  std::vector<Pause> pauses() const;
  // Lines that were begun and cannot be read, once nothing is written any more.
  std::uint64_t lost() const { return lost_; }
  // The collector was brought into a process that ran already.
  bool is_attached() const { return is_attached_; }
  // When gnomon-sampler saw the process end, CLOCK_MONOTONIC, ns; 0: it did not.
  std::uint64_t process_end() const { return process_end_; }
  // Why the kernel is not the clock, though it would have been, in a clause; empty: nothing says.
  const std::string& why_signals() const { return why_signals_; }
  // When the kernel's records of switches were given up, CLOCK_MONOTONIC, ns, and why, in a clause;
  // 0: they were not.
  struct Ended {
    std::uint64_t time = 0;
    std::string why;
  };
  const Ended& end_of_switches() const { return end_of_switches_; }
  // Why events are not counted that were to be, in a clause; empty: nothing says.
  const std::string& uncounted() const { return uncounted_; }

 private:
  struct Turn {
    std::uint64_t time;
    bool is_pause;  // else events are recorded from then on
  };
  bool add(const nlohmann::json& line);

  std::vector<Stop> stops_;
  std::vector<Turn> turns_;
  bool is_attached_ = false;
  std::uint64_t process_end_ = 0;
  std::string why_signals_;
  Ended end_of_switches_;
  std::string uncounted_;
  std::uint64_t read_ = 0;  // bytes of the file
  std::uint64_t damaged_ = 0, lost_ = 0;
  LineNumbers numbers_;
};

}  // namespace gnomon::reader
