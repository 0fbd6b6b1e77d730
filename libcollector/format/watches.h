// An object or a function that is watched: who touches it, or calls it. The text in which a
// debugger asks gnomon-sampler for it. Any process but a recorded one.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace gnomon::format {

// The answer of gnomon-sampler if all breakpoint registers are taken.
inline constexpr const char* kNoRegisterLeft = "the processor has no breakpoint register left";

// number: unique in the experiment, from 1 on; gnomon-sampler gives it. size: bytes, 1, 2, 4 or 8;
// of an object.
struct Watch {
  std::uint32_t number = 0;
  bool is_call = false;  // of the function at `address`
  bool is_read = false;  // also reads of the object
  std::uint64_t address = 0, size = 0;
  std::uint64_t interval = 1;  // one touch of so many is recorded, with its call stack
  std::string name;            // the user's expression
};

// Cut to `room` bytes by its name.
inline std::string watch_text(const Watch& watch, std::size_t room) {
  std::string text;
  for (const std::uint64_t number :
       {std::uint64_t{watch.number}, std::uint64_t{watch.is_call}, std::uint64_t{watch.is_read},
        watch.address, watch.size, watch.interval})
    text.append(std::to_string(number)).append(" ");
  return text.append(watch.name).substr(0, room);
}

// A text that is not whole gives number 0.
inline Watch watch_in(std::string_view text) {
  std::uint64_t numbers[6] = {};
  for (std::uint64_t& number : numbers) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return {};
    std::from_chars(text.data(), text.data() + end, number);
    text.remove_prefix(end + 1);
  }
  Watch watch;
  watch.number = static_cast<std::uint32_t>(numbers[0]);
  watch.is_call = numbers[1] != 0;
  watch.is_read = numbers[2] != 0;
  watch.address = numbers[3];
  watch.size = numbers[4];
  watch.interval = numbers[5];
  watch.name = text;
  return watch;
}

// The answer of gnomon-sampler when a watch has begun. A hit holds its thread for `sampled` ns with
// a call stack, for `counted` ns without; 0: not known.
struct WatchBegun {
  std::uint32_t number = 0;
  std::uint64_t sampled = 0, counted = 0;
};
inline std::string watch_answer(const WatchBegun& begun) {
  return std::string("#")
      .append(std::to_string(begun.number))
      .append(" ")
      .append(std::to_string(begun.sampled))
      .append(" ")
      .append(std::to_string(begun.counted));
}

// Number 0: it is another answer.
inline WatchBegun watch_begun_in(std::string_view text) {
  WatchBegun begun;
  if (!text.starts_with('#')) return begun;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  at = std::from_chars(at, end, begun.number).ptr;
  for (std::uint64_t* each : {&begun.sampled, &begun.counted})
    if (at != end) at = std::from_chars(at + 1, end, *each).ptr;
  return begun;
}

}  // namespace gnomon::format
