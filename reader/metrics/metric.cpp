// The table of metrics. Any thread.
#include "reader/metrics/metric.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

namespace gnomon::reader {
namespace {

// Rows are added and never changed, and their texts stay.
struct AllMetrics {
  std::array<Metric, kMostMetrics> rows;
  std::atomic<std::size_t> count = kMetrics.size();
  std::deque<std::string> texts;
  std::mutex guard;  // of additions
  AllMetrics() { std::copy(kMetrics.begin(), kMetrics.end(), rows.begin()); }
};

AllMetrics& all_metrics() {
  static AllMetrics all;
  return all;
}

}  // namespace

std::span<const Metric> metric_table() {
  const AllMetrics& all = all_metrics();
  return {all.rows.data(), all.count.load(std::memory_order_acquire)};
}

void know_counter(const std::string& name, const std::string& title, bool is_time) {
  AllMetrics& all = all_metrics();
  const std::lock_guard hold(all.guard);
  const std::size_t count = all.count.load();
  for (std::size_t i = 0; i < count; ++i)
    if (all.rows[i].key == name) return;
  if (count == all.rows.size()) return;
  const auto kept = [&](std::string text) -> std::string_view {
    return all.texts.emplace_back(std::move(text));
  };
  const std::string_view key = kept(name);
  all.rows[count] = {key,
                     kept(title),
                     kept(is_time ? "Time that the events of the counter " + name + " take."
                                  : "Events of the counter " + name + "."),
                     is_time ? Quantity::time : Quantity::count,
                     key,
                     "weight"};
  all.count.store(count + 1, std::memory_order_release);
}

}  // namespace gnomon::reader
