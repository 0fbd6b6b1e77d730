// What an event has counted, against what its samples stand for. Any process: plain numbers.
#pragma once
#include <algorithm>
#include <cstdint>

namespace gnomon::outside {

class CountBalance {
 public:
  // interval: counts between two samples.
  explicit CountBalance(std::uint64_t interval) : interval_(interval) {}

  // What was counted up to `count` is not of the recording; then what comes is.
  void begin(std::uint64_t count) {
    begin_ = count;
    is_on_ = true;
  }
  // What comes is not of the recording any more.
  void pause(std::uint64_t count) {
    before_ = counted(count);
    is_on_ = false;
  }

  // Returns the counts that a sample stands for which no rest has told before.
  std::uint64_t weigh_sample() {
    const std::uint64_t told = std::min(ahead_, interval_);
    ahead_ -= told;
    told_ += interval_ - told;
    return interval_ - told;
  }

  // final: counts since the last samples. frozen: of samples that are lost.
  struct Rest {
    std::uint64_t final = 0, frozen = 0;
  };
  // Returns what was counted and not told yet. count, lost: of the events, since they were opened.
  Rest rest(std::uint64_t count, std::uint64_t lost) {
    const std::uint64_t all = counted(count);
    const std::uint64_t left = all - std::min(all, told_);
    Rest rest;
    rest.frozen = std::min(left, (lost - std::min(lost, lost_)) * interval_);
    rest.final = left - rest.frozen;
    lost_ = std::max(lost, lost_);
    told_ += left;
    ahead_ += rest.final;
    return rest;
  }
  // Of the recording.
  std::uint64_t counted(std::uint64_t count) const {
    return before_ + (is_on_ ? count - std::min(count, begin_) : 0);
  }
  std::uint64_t interval() const { return interval_; }

 private:
  std::uint64_t interval_;
  bool is_on_ = false;
  std::uint64_t begin_ = 0, before_ = 0;
  std::uint64_t told_ = 0, ahead_ = 0, lost_ = 0;
};

}  // namespace gnomon::outside
