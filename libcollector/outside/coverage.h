// Which of the events that were opened on a process's threads sample a thread. In gnomon-sampler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gnomon::outside {

// A thread on which events were opened is a root: what it makes inherits them. While roots are
// being opened one thread may make another, which then has both what it has inherited and what was
// opened on it, and so have all that it makes in turn. The later root of the two is to be given up.
class Coverage {
 public:
  // In the order of their opening, from 0 on. Returns the number of the root.
  std::size_t add_root(std::uint32_t thread);
  // id: of an event that was opened on that root, which is also what its heirs' samples say.
  void add_event(std::size_t root, std::uint64_t id) { by_event_[id] = root; }
  std::size_t events() const { return by_event_.size(); }

  struct Judgement {
    bool counts;                          // else the sample counts a thread's time a second time
    std::optional<std::size_t> given_up;  // the root whose events are to be closed now
  };
  Judgement judge(std::uint64_t event, std::uint32_t thread);
  // Another thread may get its number.
  void on_thread_end(std::uint32_t thread);
  bool has_given_up() const { return has_given_up_; }

 private:
  std::vector<bool> is_given_up_;                              // by root
  std::unordered_map<std::uint64_t, std::size_t> by_event_;    // roots
  std::unordered_map<std::uint32_t, std::size_t> own_;         // roots of threads that run
  std::unordered_map<std::uint32_t, std::size_t> sampled_by_;  // likewise, those seen in samples
  bool has_given_up_ = false;
};

}  // namespace gnomon::outside
