// Selections of threads, CPUs and samples by their numbers. Any thread.
#include "reader/report/asked/selection.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "reader/analysis/index_values.h"
#include "reader/report/asked/report.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {
namespace {

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == between)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::optional<std::uint64_t> number_in(const std::string& word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_whole = error == std::errc() && end == word.data() + word.size();
  return is_whole && number <= ~0u ? std::optional(number) : std::nullopt;
}

tl::unexpected<Fault> not_a_list(const SelectionKind& kind, const std::string& list) {
  return fault(list.empty() ? fmt::format("a list of {} is missing", kind.plural)
                            : fmt::format("{} is no list of {}", list, kind.plural),
               "write all, none, or numbers such as 1,3-5");
}

// Returns the expression that selects the numbers of one list; empty: every number.
Result<std::string> filter_of_list(const SelectionKind& kind, std::string_view token,
                                   const std::string& list) {
  if (list == "all") return "";
  if (list == "none") return "FALSE";
  std::string single, ranges;
  for (const std::string& part : parts_of(list, ',')) {
    const auto ends = parts_of(part, '-');
    const auto first = number_in(ends.front()), last = number_in(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first) return not_a_list(kind, list);
    if (ends.size() == 1)
      single += (single.empty() ? "" : ", ") + part;
    else
      ranges += fmt::format("{}({} >= {} && {} <= {})", ranges.empty() ? "" : " || ", token, *first,
                            token, *last);
  }
  if (single.empty()) return ranges;
  single = fmt::format("{} IN ({})", token, single);
  return ranges.empty() ? single : fmt::format("{} || {}", single, ranges);
}

}  // namespace

Result<std::string> selection_filter(const SelectionKind& kind, const std::string& text) {
  std::string any;
  for (const std::string& group : parts_of(text, '+')) {
    const auto colon = group.find(':');
    auto of_list = filter_of_list(kind, kind.token,
                                  colon == std::string::npos ? group : group.substr(colon + 1));
    if (!of_list) return of_list;
    auto of_experiments =
        colon == std::string::npos
            ? Result<std::string>("")
            : filter_of_list({"experiment", "experiments", ""}, "EXPID", group.substr(0, colon));
    if (!of_experiments) return of_experiments;
    if (of_list->empty() && of_experiments->empty()) return "";
    const std::string both = of_list->empty() ? *of_experiments
                             : of_experiments->empty()
                                 ? *of_list
                                 : fmt::format("({}) && ({})", *of_experiments, *of_list);
    any += any.empty() ? both : fmt::format(" || {}", both);
  }
  return any;
}

Result<Table> selection_list(Analysis& analysis, const View& view, const SelectionKind& kind,
                             const std::string& selected) {
  Table table;
  table.columns = {{"experiment", {"Exp"}, true, Type::count},
                   {"selected", {"Sel"}},
                   {"total", {"Total"}, true, Type::count}};
  table.notes = loss_notes(analysis, nullptr, false);
  std::map<std::int64_t, std::uint64_t> totals;  // by number of the experiment
  if (kind.token != kSampleSelection.token) {
    const std::string expression = fmt::format("EXPID << 32 | ({} & 0xffffffff)", kind.token);
    const auto values = sum_by(analysis, expression, view.interrupt);
    if (!values) return tl::unexpected(values.error());
    for (const std::int64_t key : values->keys)
      if (key != IndexValues::kUnknown && (key & 0xffffffff) != 0xffffffff) ++totals[key >> 32];
  }
  for (const auto& part : analysis.parts()) {
    Row row;
    row.emplace_back(std::uint64_t{part->number()});
    row.emplace_back(selected.empty() ? std::string("all") : selected);
    row.emplace_back(kind.token == kSampleSelection.token ? part->samples().all().size()
                                                          : totals[part->number()]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_list(Analysis& analysis) {
  Table table;
  table.columns = {{"id", {"ID"}, true, Type::count},
                   {"selected", {"Sel"}},
                   {"pid", {"PID"}, true, Type::count},
                   {"experiment", {"Experiment"}}};
  for (const auto& part : analysis.parts()) {
    Row row;
    row.emplace_back(std::uint64_t{part->number()});
    row.emplace_back(std::string("yes"));
    row.emplace_back(std::uint64_t{part->experiment().header.pid});
    row.emplace_back(part->experiment().directory);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace gnomon::reader
