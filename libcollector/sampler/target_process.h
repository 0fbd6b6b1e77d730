// A process as /proc and its clocks show it from outside. In gnomon-sampler.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcollector/format/overview.h"

namespace gnomon::sampler {

struct ThreadFigures {
  std::uint32_t thread = 0;  // as the process numbers it, which differs in another pid namespace
  std::string name;
  format::Figures figures = format::unknown_figures();
};

struct Child {
  std::uint32_t pid = 0;  // as the process numbers it
  std::string name;
};

struct Look {
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  format::Figures process = format::unknown_figures();
  std::vector<ThreadFigures> threads;  // those that have run since the last look
  std::uint32_t threads_left_out = 0;  // for which there was no room
  std::uint32_t of_collector = 0;      // threads in which libcollector opens files
  std::vector<Child> children;         // new ones, and those that run another program by now
  bool is_news = false;                // the process has run since the last look
};

class TargetProcess {
 public:
  // pid: as this program knows the process.
  explicit TargetProcess(pid_t pid);

  // The number that the process has for itself; 0: it is not there.
  std::uint32_t own_number() const { return own_number_; }
  // Reads the figures of the process and of the threads that have run. Also of a process that has
  // ended, as long as its parent has not waited for it: then only its CPU time and faults are
  // known.
  Look look();
  // Returns true if a debugger or a signal has stopped every thread.
  bool is_stopped() const;
  // Returns true if another program runs in the process than at the time of the constructor.
  bool has_executed() const;

 private:
  static constexpr std::size_t kMostThreads = 4096, kMostChildren = 4096;
  struct Ran {
    std::uint64_t cpu = 0, waiting = 0, slices = 0;
    std::uint64_t voluntary = 0, involuntary = 0;
    std::uint64_t look = 0;  // the last look in which the thread was there
  };
  void look_at_thread(pid_t tid, Look& look);
  void look_for_children(pid_t tid, Look& look);
  void forget_ended();
  std::uint64_t sum(std::uint64_t Ran::*figure, std::uint64_t ended) const;

  std::string directory_;  // /proc/PID
  pid_t pid_;
  std::uint32_t own_number_ = 0;
  std::string program_;  // which one runs, see has_executed
  std::uint64_t looks_ = 0;
  std::uint64_t cpu_ = 0;
  std::unordered_map<pid_t, Ran> threads_;
  std::map<pid_t, std::string> children_;  // names, of those that were there
  Ran ended_;  // sums over threads that have ended, as they were seen last
};

}  // namespace gnomon::sampler
