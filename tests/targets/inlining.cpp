// Functions inlined into each other, built with debug information in several forms.
#include <cstdint>

namespace {

struct Mixer {
  std::uint64_t state;
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
};

template <int Times>
inline std::uint64_t folded(Mixer& mixer) {
  std::uint64_t sum = 0;
  for (int i = 0; i < Times; ++i) sum += mixer.next() % 1009;
  return sum;
}

inline std::uint64_t chosen(Mixer& mixer, bool twice) {
  return twice ? folded<3>(mixer) + folded<5>(mixer) : folded<2>(mixer);
}

}  // namespace

extern "C" std::uint64_t inlining(std::uint64_t seed, int rounds) {
  Mixer mixer{seed};
  std::uint64_t sum = 0;
  for (int i = 0; i < rounds; ++i) sum += chosen(mixer, i % 3 == 0);
  return sum;
}

// A lambda that is a function of its own, and that stands inside another.
extern "C" int with_lambda(int count) {
  const auto add = [](int a) __attribute__((noinline)) {
    asm volatile("");
    return a + 1;
  };
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += add(i);
  return sum;
}
