// What a recording's settings say about its length and size. In gnomon-sampler.
#pragma once
#include <cstdint>

#include "libcollector/format/control.h"
#include "libcollector/format/settings.h"

namespace gnomon::sampler {

class Limits {
 public:
  // page: must outlive this object.
  Limits(const format::SettingValues& settings, format::ControlPage& page)
      : settings_(settings), page_(page) {}

  // What is due at `now` (CLOCK_MONOTONIC, ns), each once; delay: events are to be recorded from
  // here on. size: no more of them. duration: the recording is to end.
  enum class Due { nothing, delay, size, duration };
  Due look(std::uint64_t now);

  // When to look again at the latest.
  std::uint64_t next_look(std::uint64_t now) const;

 private:
  std::uint64_t bytes() const;
  std::uint64_t begin() const;

  const format::SettingValues& settings_;
  format::ControlPage& page_;
  bool is_delay_over_ = false;
};

}  // namespace gnomon::sampler
