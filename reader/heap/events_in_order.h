// Events of several threads in order of their times. Any thread, one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace gnomon::reader {

// Event: has a member `time`. Each thread's events come in order, so that most of what comes
// continues a sorted run: taking n events out of r runs takes n log r steps, and what is not taken
// out is not touched.
template <typename Event>
class EventsInOrder {
 public:
  void add(const Event& event) {
    if (runs_.empty() || runs_.back().events.size() == kRun ||
        event.time < runs_.back().events.back().time)
      runs_.emplace_back();
    runs_.back().events.push_back(event);
    ++size_;
  }
  std::size_t size() const { return size_; }

  // Calls visit(event) for the events before `limit`, which are then forgotten. Events
  // of equal times are visited in the order in which they were added.
  template <typename Visit>
  void take_until(std::uint64_t limit, Visit visit) {
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (std::size_t i = 0; i < runs_.size(); ++i) push(heads, i, limit);
    while (!heads.empty()) {
      const std::size_t i = std::get<1>(heads.top());
      heads.pop();
      Run& run = runs_[i];
      do {
        visit(run.events[run.next]);
        ++run.next;
        --size_;
      } while (run.next < run.events.size() && run.events[run.next].time < limit &&
               (heads.empty() || Head{run.events[run.next].time, i} < heads.top()));
      push(heads, i, limit);
    }
    std::erase_if(runs_, [](const Run& run) { return run.next == run.events.size(); });
  }

 private:
  static constexpr std::size_t kRun = 1 << 13;  // events
  struct Run {
    std::vector<Event> events;
    std::size_t next = 0;
  };
  using Head = std::tuple<std::uint64_t, std::size_t>;  // time, run

  template <typename Heads>
  void push(Heads& heads, std::size_t i, std::uint64_t limit) const {
    const Run& run = runs_[i];
    if (run.next < run.events.size() && run.events[run.next].time < limit)
      heads.emplace(run.events[run.next].time, i);
  }

  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace gnomon::reader
