// How long a process used fewer CPUs than it had. In gnomon-sampler.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace gnomon::outside {

class CpuUse {
 public:
  // Times are CLOCK_MONOTONIC, ns, in their order.
  void begin(std::uint64_t time, std::uint32_t cpus) {
    begun_ = changed_ = time;
    cpus_ = cpus;
    idle_ = 0;
  }
  // So many of the process's threads have been on a CPU up to that time.
  void note(std::uint64_t time, std::uint32_t running) {
    if (time <= changed_) return;
    if (running < cpus_) idle_ += time - changed_;
    changed_ = time;
  }

  struct Stretch {
    std::uint64_t end, length, idle;  // ns of `length` in which a CPU was not used
  };
  // Returns what has been noted since it returned something last, if that is `least` ns.
  std::optional<Stretch> take(std::uint64_t least) {
    const std::uint64_t length = changed_ - begun_;
    if (cpus_ == 0 || length == 0 || length < least) return std::nullopt;
    const Stretch stretch{changed_, length, idle_};
    begun_ = changed_;
    idle_ = 0;
    return stretch;
  }

 private:
  std::uint64_t begun_ = 0, changed_ = 0, idle_ = 0;
  std::uint32_t cpus_ = 0;
};

}  // namespace gnomon::outside
