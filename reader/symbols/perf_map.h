// Names of code that a program made at run time: the file /tmp/perf-PID.map, which JIT compilers
// write for perf. Any thread.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "reader/experiment/experiment.h"

namespace gnomon::reader {

class PerfMap {
 public:
  // root: of the process's file system, as /proc/PID/root; empty: ours. Takes the file only if the
  // owner of the experiment, or root, has written it since the process began, and reads the file
  // again only if it has changed.
  void refresh(const Experiment& experiment, const std::string& root);

  // Returns null if no entry of the file covers `pc`.
  const std::string* name(std::uint64_t pc) const;
  // Why a file that is there was not taken, a sentence; empty: none was.
  const std::string& refusal() const { return refusal_; }

 private:
  struct Range {
    std::uint64_t begin, end;
    std::string name;
  };
  struct Version {
    std::uint64_t device = 0, file = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // of the last change
    bool operator==(const Version&) const = default;
  };
  void read(std::FILE* file);

  Version version_;            // of what was read; none: all 0
  std::vector<Range> ranges_;  // sorted, apart from each other
  std::string refusal_;
};

}  // namespace gnomon::reader
