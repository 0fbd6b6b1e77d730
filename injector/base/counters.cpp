// gnomon-counters, which knows what can be counted here. Any thread.
#include "injector/base/counters.h"

#include <fmt/format.h>

#include "injector/base/sampler.h"

namespace gnomon::injector {

Result<std::string> list_counters(const std::string& folder) {
  return run_beside(folder, "gnomon-counters", {"list"});
}

Result<std::string> resolve_counters(const std::string& folder, std::vector<std::string> words) {
  words.insert(words.begin(), "resolve");
  auto answer = run_beside(folder, "gnomon-counters", std::move(words));
  if (!answer || !answer->starts_with('!')) return answer;
  const std::size_t end = answer->find('\n');
  std::string next = end == std::string::npos ? "" : answer->substr(end + 1);
  while (!next.empty() && next.back() == '\n') next.pop_back();
  return fault(answer->substr(1, end - 1), next);
}

}  // namespace gnomon::injector
