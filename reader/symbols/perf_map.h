// Names of code that a program made at run time: the file /tmp/perf-PID.map, which JIT compilers
// write for perf. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/experiment/experiment.h"

namespace gnomon::reader {

class PerfMap {
 public:
  PerfMap() = default;  // without names
  // root: of the process's file system, as /proc/PID/root; empty: ours. Takes the file only if the
  // owner of the experiment, or root, has written it since the process began.
  static PerfMap load(const Experiment& experiment, const std::string& root);

  // Null: no name is known.
  const std::string* name(std::uint64_t pc) const;
  // Why a file that is there was not taken, a sentence; empty: none was.
  const std::string& refusal() const { return refusal_; }

 private:
  struct Range {
    std::uint64_t begin, end;
    std::string name;
  };
  void read(const std::string& path);

  std::vector<Range> ranges_;  // sorted, apart from each other
  std::string refusal_;
};

}  // namespace gnomon::reader
