// Long work asks now and then whether it is still wanted. Any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "reader/base/result.h"

namespace gnomon {

class Interrupt {
 public:
  Interrupt() = default;  // nobody interrupts
  explicit Interrupt(std::function<bool()> asked) : asked_(std::move(asked)) {}

  bool asked() const { return asked_ && asked_(); }
  // The same for the step `number` of many short ones; most do not ask.
  bool asked(std::uint64_t number) const { return number % kSteps == 0 && asked(); }

 private:
  static constexpr std::uint64_t kSteps = 1024;
  std::function<bool()> asked_;
};

inline tl::unexpected<Fault> interrupted() { return fault("interrupted: nothing was summed"); }

}  // namespace gnomon
