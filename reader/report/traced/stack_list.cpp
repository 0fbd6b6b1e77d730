// Call stacks in reports of traced calls. Any thread, one at a time.
#include "reader/report/traced/stack_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reader/report/traced/tracer_text.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// Functions of C++'s and Rust's libraries, also those whose names begin with what they return.
bool is_runtime_function(std::string_view function) {
  for (const std::string_view type : {"void ", "bool "})
    if (function.starts_with(type)) function.remove_prefix(type.size());
  constexpr std::array kBeginnings{
      "operator new", "std::",   "__gnu_cxx::", "__gthread",     "core::",
      "<std::",       "<core::", "alloc::",     "collector_root"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view each) { return function.starts_with(each); });
}

// Libraries that every program calls: a program's author calls others his own.
bool is_runtime_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::array kBeginnings{"libc.so",  "libc-2",   "libpthread", "libstdc++", "libc++",
                                   "libgcc_s", "ld-linux", "ld-musl",    "[vdso]",    "libc.musl"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

bool is_of_runtime(std::string_view function, std::string_view object) {
  return is_runtime_function(function) || is_runtime_library(object);
}

Result<void> has_heap(const Analysis& analysis) {
  const auto& parts = analysis.parts();
  if (std::any_of(parts.begin(), parts.end(),
                  [](const auto& part) { return !part->heap().is_empty(); }))
    return {};
  return without_events(analysis, format::Tracer::heap);
}

Result<StackList> StackList::of(Analysis& analysis, const View& view, const MetricList& metrics) {
  View own = view;
  own.show(metrics);
  auto asked = ask_places(analysis, own, Grain::line);
  if (!asked) return tl::unexpected(asked.error());
  const auto places = analysis.places(Grain::line, view.interrupt);
  if (!places) return tl::unexpected(places.error());
  return StackList(std::move(*asked), **places);
}

std::string StackList::name_of(PlaceId place) const {
  const std::uint32_t item = index(place);
  if (asked_.items.place(item).source.is_known()) return asked_.items.name(item).text();
  return std::string(without_clone(asked_.items.function_name(item)));
}

std::string StackList::function_of(PlaceId place) const {
  return std::string(without_clone(asked_.items.function_name(index(place))));
}

// Returns where it begins; 0 if all is of the runtime library.
std::size_t StackList::own_part(const std::vector<PlaceId>& path) const {
  const auto at = std::find_if(path.begin(), path.end(), [&](PlaceId place) {
    return !is_of_runtime(asked_.items.function_name(index(place)),
                          asked_.items.function(index(place)).object);
  });
  return at == path.end() ? 0 : static_cast<std::size_t>(at - path.begin());
}

std::optional<PlaceId> StackList::own_place(const std::vector<PlaceId>& path) const {
  return path.empty() ? std::nullopt : std::optional(path[own_part(path)]);
}

std::vector<PlaceId> StackList::own_path(const std::vector<PlaceId>& path) const {
  return {path.begin() + static_cast<std::ptrdiff_t>(own_part(path)), path.end()};
}

std::vector<PlaceId> StackList::called_path(const std::vector<PlaceId>& path) const {
  const std::size_t own = own_part(path);
  return {path.begin() + static_cast<std::ptrdiff_t>(own == 0 ? 0 : own - 1), path.end()};
}

std::vector<std::string> StackList::names_of(const std::vector<PlaceId>& path) const {
  std::vector<std::string> names;
  for (const PlaceId place : path) names.push_back(name_of(place));
  if (names.empty()) names.emplace_back("<no call stack>");
  return names;
}

Result<void> StackList::list(Table& table, std::vector<Column> columns,
                             const std::vector<ListedStack>& stacks, const View& view) const {
  table.columns = std::move(columns);
  table.columns.push_back({"stack", {}, false, Type::count});
  table.columns.push_back({"frame", {}, false, Type::count});
  table.columns.push_back({"name", {"Name"}});
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (view.interrupt.asked(static_cast<std::uint32_t>(i))) return interrupted();
    if (view.limit != 0 && i == view.limit) {
      table.left_out = {stacks.size() - i, "call stacks"};
      break;
    }
    std::uint64_t frame = 0;
    std::vector<std::string> names = names_of(stacks[i].path);
    if (!stacks[i].leaf.empty()) names.insert(names.begin(), stacks[i].leaf);
    for (std::string& name : names) {
      Row row = frame == 0 ? stacks[i].values : Row(stacks[i].values.size(), Cell(Empty{}));
      row.emplace_back(std::uint64_t{i + 1});
      row.emplace_back(frame);
      row.emplace_back(
          Label{frame == 0 ? fmt::format("{:>4}  ", i + 1) : std::string(6, ' '), std::move(name)});
      table.rows.push_back(std::move(row));
      ++frame;
    }
  }
  return {};
}

Result<Table> StackList::with_losses(Table table, const Analysis& analysis) const {
  std::uint64_t missed = 0;
  for (const auto& part : analysis.parts()) missed += part->heap().missed_frees();
  if (missed != 0)
    table.notes.push_back(
        fmt::format("blocks that were given back by calls that were not recorded: {}.", missed));
  return reader::with_losses(std::move(table), analysis, asked_.asked);
}

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace gnomon::reader
