// The example of `./dev demo`: counts words and primes, and sorts; `checkpoint` is a place to stop.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace demo {

std::uint32_t random_state = 42;

std::uint32_t next_random() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}

[[gnu::noinline]] bool is_prime(std::uint32_t n) {
  asm volatile("" ::"r"(__builtin_frame_address(0)));
  for (std::uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

[[gnu::noinline]] unsigned count_primes(std::uint32_t up_to) {
  unsigned count = 0;
  for (std::uint32_t n = 0; n < up_to; ++n) count += is_prime(n);
  return count;
}

[[gnu::noinline]] void shell_sort(std::vector<std::uint32_t>& numbers) {
  asm volatile("" ::"r"(__builtin_frame_address(0)));
  for (std::size_t gap = numbers.size() / 2; gap > 0; gap /= 2)
    for (std::size_t i = gap; i < numbers.size(); ++i)
      for (std::size_t j = i; j >= gap && numbers[j - gap] > numbers[j]; j -= gap)
        std::swap(numbers[j], numbers[j - gap]);
}

[[gnu::noinline]] std::size_t sort_numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (auto& number : numbers) number = next_random();
  shell_sort(numbers);
  return numbers[count / 2];
}

[[gnu::noinline]] std::size_t count_words(std::size_t count) {
  std::map<std::string, unsigned> words;
  for (std::size_t i = 0; i < count; ++i) ++words["word" + std::to_string(next_random() % 5000)];
  return words.size();
}

}  // namespace demo

extern "C" [[gnu::noinline]] void checkpoint(int round) {
  asm volatile("" ::"r"(round) : "memory");
}

int main() {
  std::size_t sum = 0;
  for (int round = 0; round < 10; ++round) {
    sum += demo::count_primes(600'000);
    sum += demo::sort_numbers(300'000);
    sum += demo::count_words(150'000);
    if (round == 5) checkpoint(round);
  }
  std::printf("%zu\n", sum);
}
