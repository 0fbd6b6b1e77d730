// Events summed up by the value of an expression. Any thread, one at a time.
#include "reader/analysis/index_values.h"

#include <fmt/format.h>

#include <unordered_map>

namespace gnomon::reader {

Result<IndexValues> sum_by(Analysis& analysis, const std::string& expression,
                           const Interrupt& interrupt) {
  constexpr std::size_t kMost = 1'000'000;
  auto value = analysis.value_of(expression);
  if (!value) return tl::unexpected(value.error());
  auto recording = Recording::open(analysis.experiment().directory);
  if (!recording) return tl::unexpected(recording.error());
  IndexValues values;
  std::unordered_map<std::int64_t, std::uint32_t> numbers;
  const auto visit = [&](const Event& event) -> Result<void> {
    const auto is_one = analysis.contains(event, interrupt);
    if (!is_one) return tl::unexpected(is_one.error());
    if (!*is_one) return {};
    const auto key = value->of(event, interrupt);
    if (!key) return tl::unexpected(key.error());
    const auto [at, is_new] = numbers.try_emplace(key->value_or(IndexValues::kUnknown),
                                                  static_cast<std::uint32_t>(values.keys.size()));
    if (is_new) {
      if (values.keys.size() == kMost)
        return fault(fmt::format("{} has more than {} values", expression, kMost),
                     "divide it by a number");
      values.keys.push_back(at->first);
      values.events.push_back(0);
    }
    ++values.events[at->second];
    values.sums.add(event, at->second);
    return {};
  };
  if (auto read = recording->update(interrupt, visit); !read) return tl::unexpected(read.error());
  return values;
}

}  // namespace gnomon::reader
