// Numbers the copies of this process's memory. Any context; no system call but for the first look.
#pragma once
#include <atomic>
#include <cstdint>

namespace gnomon::collector {

// Returns a number of this process. A fork child has another number than all processes whose memory
// it has copied. A child that shares the memory, as after vfork(2), has its parent's number.
std::uint32_t fork_generation();

// A right that one thread of the process has at a time. The right is free in a fork child, because
// the thread that had it does not exist there.
class Claim {
 public:
  // Returns false if a thread of this process has it.
  bool take() {
    std::uint32_t other = generation_.load();
    const std::uint32_t own = fork_generation();
    return other != own && generation_.compare_exchange_strong(other, own);
  }
  void give_back() { generation_.store(0); }
  bool is_taken() const { return generation_.load() == fork_generation(); }

 private:
  std::atomic<std::uint32_t> generation_ = 0;  // of whoever has it; 0: nobody
};

}  // namespace gnomon::collector
