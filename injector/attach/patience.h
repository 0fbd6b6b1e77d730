// How long an insertion is waited for. LLDB's command thread, and the shell's.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace gnomon::injector {

// How long to wait for the thread that sets the recording up. A busy machine, a slow disk or a
// debugger with many threads to resume may delay that thread many times over. So only time in which
// it sleeps counts against it, as behind a lock.
class Patience {
 public:
  explicit Patience(pid_t pid) : pid_(pid) {}

  // of: returns the collector's own, or the borrowed one while there is none. Returns true if it
  // has not moved for five seconds, or after half a minute.
  bool is_over(const std::function<pid_t()>& of);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLook{1}, kStill{5}, kMost{30};

  pid_t pid_;
  pid_t thread_ = 0;
  std::uint64_t used_ = 0;  // ns on a CPU, of that thread
  Clock::time_point begin_ = Clock::now(), looked_ = begin_, moved_ = begin_;
};

}  // namespace gnomon::injector
