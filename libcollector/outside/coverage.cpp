// Which of the events that were opened on a process's threads sample a thread. In gnomon-sampler.
#include "libcollector/outside/coverage.h"

#include <algorithm>

namespace gnomon::outside {

std::size_t Coverage::add_root(std::uint32_t thread) {
  own_[thread] = is_given_up_.size();
  is_given_up_.push_back(false);
  return is_given_up_.size() - 1;
}

Coverage::Judgement Coverage::judge(std::uint64_t event, std::uint32_t thread) {
  const auto found = by_event_.find(event);
  if (found == by_event_.end()) return {true, {}};  // of events from before these
  const std::size_t root = found->second;
  if (is_given_up_[root]) return {false, {}};
  const auto [seen, is_new] = sampled_by_.try_emplace(thread, root);
  std::size_t other = seen->second;
  if (const auto own = own_.find(thread); is_new && own != own_.end()) other = own->second;
  if (other == root || is_given_up_[other]) {
    seen->second = root;
    return {true, {}};
  }
  const auto [earlier, later] = std::minmax(root, other);
  seen->second = earlier;
  is_given_up_[later] = true;
  has_given_up_ = true;
  return {root == earlier, later};
}

void Coverage::on_thread_end(std::uint32_t thread) {
  own_.erase(thread);
  sampled_by_.erase(thread);
}

}  // namespace gnomon::outside
