// Events summed up by the value of an expression. Any thread, one at a time.
#include "reader/analysis/index_values.h"

#include <fmt/format.h>

#include <unordered_map>

#include "reader/analysis/heap_values.h"

namespace gnomon::reader {

namespace {

class Counter {
 public:
  explicit Counter(const std::string& expression) : expression_(expression) {}

  Result<void> count(const Event& event, std::int64_t key, HeapValues& heap) {
    constexpr std::size_t kMost = 1'000'000;
    const auto [at, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(values.keys.size()));
    if (is_new) {
      if (values.keys.size() == kMost)
        return fault(fmt::format("{} has more than {} values", expression_, kMost),
                     "divide it by a number");
      values.keys.push_back(key);
    }
    heap.add(event, at->second, values.sums);
    return {};
  }

  IndexValues values;

 private:
  const std::string& expression_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;
};

}  // namespace

Result<IndexValues> sum_by(Analysis& analysis, const std::string& expression,
                           const Interrupt& interrupt) {
  Counter counter(expression);
  for (const auto& part : analysis.parts()) {
    auto value = analysis.value_of(expression, *part);
    if (!value) return tl::unexpected(value.error());
    HeapValues heap(*part);
    auto read = part->each_event(interrupt, [&](const Event& event) -> Result<void> {
      const auto key = value->of(event, interrupt);
      if (!key) return tl::unexpected(key.error());
      return counter.count(event, key->value_or(IndexValues::kUnknown), heap);
    });
    if (!read) return tl::unexpected(read.error());
    counter.values.sums.forget_layouts();
  }
  return std::move(counter.values);
}

}  // namespace gnomon::reader
