// Units and ids as types of their own. Any thread.
#pragma once
#include <compare>
#include <cstdint>

namespace gnomon {

struct Nanoseconds {
  std::uint64_t value = 0;
  Nanoseconds& operator+=(Nanoseconds other) {
    value += other.value;
    return *this;
  }
  friend auto operator<=>(const Nanoseconds&, const Nanoseconds&) = default;
};

inline double seconds(Nanoseconds t) { return static_cast<double>(t.value) / 1e9; }

enum class StackId : std::uint32_t { none = 0 };
enum class ObjectId : std::uint32_t {};
enum class FunctionId : std::uint32_t {};

template <typename Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

// When a process had which load objects: those of different processes lie at the same addresses.
struct Epoch {
  std::uint32_t part = 0;    // of an analysis of several experiments, from 0
  std::uint32_t number = 0;  // within the part
  friend auto operator<=>(const Epoch&, const Epoch&) = default;
};

}  // namespace gnomon
