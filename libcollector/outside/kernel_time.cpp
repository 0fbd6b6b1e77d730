// Tells where threads have spent the CPU time in the kernel that their clock does not show. In
// gnomon-sampler.
#include "libcollector/outside/kernel_time.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace gnomon::outside {
namespace {

using Shares = std::unordered_map<std::uint32_t, std::uint64_t>;  // by stack

// The most that a page fault takes in the mean, ns, huge pages that have to be cleared among them.
constexpr std::uint64_t kMostFault = 50'000;

std::uint64_t sum_of(const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& share) { return sum + share.second; });
}

// Gives `time` to the stacks in proportion to their shares, which are small.
void give(std::uint64_t time, const Shares& shares, Rest rest, std::vector<Rest>& parts) {
  std::uint64_t open = sum_of(shares);
  for (const auto& [stack, share] : shares) {
    rest.weight = static_cast<std::uint64_t>(
        static_cast<double>(time) * static_cast<double>(share) / static_cast<double>(open));
    rest.stack = stack;
    if (rest.weight != 0) parts.push_back(rest);
    time -= rest.weight;
    open -= share;
  }
}

}  // namespace

void KernelTime::add_faults(std::uint32_t thread, std::uint32_t stack, std::uint64_t faults) {
  threads_[thread].faults[stack] += faults;
}

std::vector<Rest> KernelTime::split(const Rest& rest, std::uint32_t number) {
  Thread& thread = threads_[rest.thread];
  std::array<std::uint32_t, format::KernelPlaces::kKept> stacks{};
  Shares calls;
  for (std::uint32_t i = places_.take(number, thread.seen, stacks); i > 0; --i)
    ++calls[stacks[i - 1]];
  const Shares faults = std::exchange(thread.faults, {});
  const std::uint64_t most_faults = kMostFault * sum_of(faults);
  std::uint64_t of_calls = calls.empty() ? 0 : rest.weight;
  if (!faults.empty())
    of_calls = std::min(of_calls, std::max(tick_ * sum_of(calls),
                                           rest.weight - std::min(rest.weight, most_faults)));
  const std::uint64_t of_faults = std::min(rest.weight - of_calls, most_faults);
  std::vector<Rest> parts;
  give(of_calls, calls, rest, parts);
  give(of_faults, faults, rest, parts);
  Rest unknown = rest;
  unknown.weight = rest.weight - of_calls - of_faults;
  if (unknown.weight != 0) parts.push_back(unknown);
  return parts;
}

}  // namespace gnomon::outside
