// How much of a sum had come together by an instant. Any thread, one at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace gnomon::reader {

class ByTime {
 public:
  // begin: CLOCK_MONOTONIC, ns; whatever was before it counts as if it was then.
  explicit ByTime(std::uint64_t begin) : begin_(begin) {}

  void add(std::uint64_t time, std::uint64_t value) {
    if (value == 0) return;
    const std::size_t part = part_of(time);
    if (part >= parts_.size()) parts_.resize(part + 1);
    parts_[part] += value;
    last_ = std::max(last_, time);
  }

  // The latest instant for which something was added; 0: none.
  std::uint64_t last() const { return last_; }

  // What was added for instants up to `time`: all of it from the last instant on, before that exact
  // to the part of kPart ns in which `time` lies.
  std::uint64_t until(std::uint64_t time) const {
    const std::size_t part = part_of(time);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < std::min(part, parts_.size()); ++i) sum += parts_[i];
    if (part >= parts_.size() || time < begin_) return sum;
    if (time >= last_) return sum + parts_[part];
    const double share = static_cast<double>((time - begin_) % kPart) / double{kPart};
    return sum + static_cast<std::uint64_t>(share * static_cast<double>(parts_[part]));
  }

 private:
  static constexpr std::uint32_t kPart = 100'000'000;
  static constexpr std::uint64_t kMost = 1 << 20;  // 29 hours, what comes later is one part

  std::size_t part_of(std::uint64_t time) const {
    return time < begin_ ? 0 : std::min((time - begin_) / kPart, kMost);
  }

  std::uint64_t begin_, last_ = 0;
  std::vector<std::uint64_t> parts_;
};

}  // namespace gnomon::reader
