// Which events reports are about. Any thread.
#include "commands/host/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "reader/filter/expression.h"

namespace gnomon::commands {

Result<void> Selection::set_filter(const std::string& expression) {
  if (!expression.empty())
    if (auto parsed = reader::parse_expression(expression); !parsed)
      return tl::unexpected(parsed.error());
  filter_ = expression;
  lists_.clear();
  return {};
}

Result<void> Selection::select(const reader::SelectionKind& kind, const std::string& list) {
  const auto expression = reader::selection_filter(kind, list);
  if (!expression) return tl::unexpected(expression.error());
  std::erase_if(lists_, [&](const List& each) { return each.token == kind.token; });
  if (!expression->empty()) lists_.push_back({std::string(kind.token), list, *expression});
  return {};
}

const std::string& Selection::selected(const reader::SelectionKind& kind) const {
  static const std::string all;
  const auto at = std::find_if(lists_.begin(), lists_.end(),
                               [&](const List& each) { return each.token == kind.token; });
  return at == lists_.end() ? all : at->text;
}

std::string Selection::expression(const std::vector<std::string>& more) const {
  std::vector<std::string> all = more;
  for (auto list = lists_.rbegin(); list != lists_.rend(); ++list)
    all.insert(all.begin(), list->expression);
  if (!filter_.empty()) all.insert(all.begin(), filter_);
  if (all.size() == 1) return all.front();
  std::string both;
  for (const std::string& each : all)
    both += fmt::format("{}({})", both.empty() ? "" : " && ", each);
  return both;
}

}  // namespace gnomon::commands
