// Event kinds: one row a kind. Recorder, reader, help and docs are driven by these rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gnomon::format {

// One data file a kind of data; the id stands in block headers and indexes the control page.
enum class DataKind : std::uint16_t { profile = 0 };
inline constexpr std::size_t kDataKinds = 8;  // room for those to come
inline constexpr std::array<std::string_view, 1> kDataFiles{"profile"};

enum class Unit : std::uint8_t { nanoseconds, bytes, count };

// A tick of a thread's CPU clock.
struct ClockSample {
  std::uint32_t word;    // RecordWord
  std::uint32_t thread;  // kernel thread id
  std::uint64_t time;    // CLOCK_MONOTONIC, ns
  std::uint64_t weight;  // CPU time this sample stands for, ns
  std::uint32_t stack;   // node of the stack table
  std::int32_t cpu;      // -1: unknown
};
static_assert(sizeof(ClockSample) == 32);
static_assert(offsetof(ClockSample, time) == 8);
static_assert(offsetof(ClockSample, weight) == 16);
static_assert(offsetof(ClockSample, stack) == 24);

struct EventKind {
  std::uint8_t id;  // never 0, never used again for something else
  std::string_view name;
  std::size_t size;
  DataKind file;
  Unit unit;
  std::string_view title;
};

inline constexpr std::uint8_t kClockSample = 1;
inline constexpr std::array kEventKinds{
    EventKind{kClockSample, "clock", sizeof(ClockSample), DataKind::profile, Unit::nanoseconds,
              "User CPU Time"},
};

constexpr const EventKind* find_event_kind(std::uint8_t id) {
  for (const EventKind& kind : kEventKinds)
    if (kind.id == id) return &kind;
  return nullptr;
}

consteval bool event_kinds_are_sound() {
  for (std::size_t i = 0; i < kEventKinds.size(); ++i) {
    const EventKind& kind = kEventKinds[i];
    if (kind.id == 0 || kind.size % 8 != 0 || kind.size / 8 > 255) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (kEventKinds[j].id == kind.id) return false;
  }
  return true;
}
static_assert(event_kinds_are_sound());

}  // namespace gnomon::format
