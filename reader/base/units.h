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

}  // namespace gnomon
