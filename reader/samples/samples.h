// The samples of an experiment: what the kernel said of the process at several instants. Any
// thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcollector/format/overview.h"
#include "reader/base/result.h"
#include "reader/experiment/experiment.h"
#include "reader/experiment/json_lines.h"

namespace gnomon::reader {

struct ThreadSample {
  std::uint32_t thread = 0;
  std::string name;
  format::Figures figures = format::unknown_figures();
};

struct Sample {
  std::string event;       // one of format::kSampleEvents
  std::string label;       // what somebody called it; empty: nothing
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  format::Figures figures = format::unknown_figures();
  std::vector<ThreadSample> threads;  // those that have run since the sample before
  std::uint64_t threads_left_out = 0;

  // By which users name it.
  const std::string& name() const { return label.empty() ? event : label; }
};

class Samples {
 public:
  // Reads the samples that were added since the last call. An experiment may have none, and what
  // reports say of its events does not depend on them: see fault().
  void read_new(const Experiment& experiment);

  // In the order of time.
  const std::vector<Sample>& all() const { return samples_; }
  // What threads had used before they were watched.
  const std::vector<ThreadSample>& baseline() const { return baseline_; }
  // Child processes that were seen, by pid, and the names of their programs.
  const std::map<std::uint32_t, std::string>& children() const { return children_; }
  // Samples that were begun and cannot be read, once nothing is written any more.
  std::uint64_t lost() const { return lost_; }
  // Why the file could not be read, a clause; empty: it could.
  const std::string& fault() const { return fault_; }

 private:
  bool add(const nlohmann::json& line);

  std::vector<Sample> samples_;
  std::vector<ThreadSample> baseline_;
  std::map<std::uint32_t, std::string> children_;
  std::uint64_t read_ = 0;     // bytes of the file
  std::uint64_t damaged_ = 0;  // lines
  std::uint64_t lost_ = 0;
  LineNumbers numbers_;
  std::string fault_;
};

// What grew from `before` to `after`, and the levels of `after`. Unknown where one of them is.
format::Figures between(const format::Figures& before, const format::Figures& after);

}  // namespace gnomon::reader
