// The files that a process has mapped, where another process finds them. Any thread.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

namespace gnomon::reader {

class LiveFiles {
 public:
  LiveFiles() = default;  // of no process
  // process: /proc/PID of a process that runs.
  explicit LiveFiles(const std::string& process);

  // Where the file may be that the process knows by `path`, the likeliest first. A file that was
  // removed or replaced since it was mapped (a program that was built or installed anew) still has
  // its own content under /proc.
  std::vector<std::string> candidate_paths(const std::string& path) const;

  // The process's root directory, as /proc/PID/root; empty: of no process.
  std::string root() const { return process_.empty() ? "" : process_ + "/root"; }

 private:
  std::string process_;
  std::unordered_map<std::string, std::vector<std::string>> removed_;  // where they are, by path
};

}  // namespace gnomon::reader
