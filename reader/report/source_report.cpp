// Annotated source: the lines of a function or of a file, with metrics. Any thread.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/report/asked.h"
#include "reader/report/chosen_function.h"
#include "reader/report/items.h"
#include "reader/report/losses.h"
#include "reader/report/marks.h"
#include "reader/report/report.h"
#include "reader/symbols/name_match.h"

namespace gnomon::reader {
namespace {

// Where a line of the source has its number.
constexpr const char* kNoLine = "      ";

// The lines to show of a file, from 1 on.
struct Region {
  SourceFileId file = SourceFileId::none;
  std::uint32_t begin = 1, end = ~0u;
  std::vector<std::uint32_t> with_code;
};

class Listing {
 public:
  Listing(Analysis& analysis, const PlaceItems& items, const Asked& asked, const View& view)
      : places_(analysis.code()),
        items_(items),
        asked_(asked),
        view_(view),
        list_(metrics_only(asked.shown.metrics)),
        marks_(list_, view.source_threshold) {
    table.columns.push_back({"hot", {}, true});
    for (Column& column : columns_of(list_))
      if (column.id != "name") table.columns.push_back(std::move(column));
    table.columns.push_back({"line", {}, false, Type::count});
    table.columns.push_back({"source", {}, true});
  }

  // From the line where the function begins to the last that it has code of.
  Result<Region> of_function(FunctionId id) {
    const Function& function = asked_.profile->function(id);
    const Places::Origin begin =
        function.object.empty()
            ? Places::Origin{}
            : places_.origin({function.file, function.address}, view_.interrupt);
    if (!begin.source.is_known()) return without_lines(id);
    object_ = function.object;
    Region region{begin.source.file, begin.source.line, begin.source.line, {}};
    for (const SourcePlace& place : places_.places_of(function, view_.interrupt)) {
      if (place.file != region.file) continue;
      region.begin = std::min(region.begin, place.line);
      region.end = std::max(region.end, place.line);
    }
    region.with_code = places_.lines_with_code(region.file);
    return region;
  }

  Result<void> add(const Region& region) {
    const std::string path = places_.files().path(region.file);
    const std::string found = view_.sources.find(path);
    table.title = "Source file: " + path;
    if (!found.empty() && found != path) table.title += " (found as " + found + ")";
    if (!object_.empty()) table.title += "\nLoad object: " + object_;
    auto text = found.empty() ? Result<std::vector<std::string>>(std::vector<std::string>())
                              : read_lines(found);
    if (!text) return tl::unexpected(text.error());
    if (found.empty())
      table.notes.push_back(path +
                            " is not there, so that lines have no text; `pathmap OLD NEW` says "
                            "where sources went, `setpath DIRECTORY` where to look for them.");
    find_values(region);
    note_age(region, found);
    const auto last = static_cast<std::uint32_t>(
        found.empty() ? (region.with_code.empty() ? 0 : region.with_code.back()) : text->size());
    std::size_t code = 0;
    for (std::uint32_t line = region.begin; line <= std::min(region.end, last); ++line) {
      if (view_.interrupt.asked(line)) return interrupted();
      while (code < region.with_code.size() && region.with_code[code] < line) ++code;
      const bool has_code = code < region.with_code.size() && region.with_code[code] == line;
      add_functions(line);
      if (found.empty() && !has_code) continue;
      add_line(line, has_code, found.empty() ? "" : (*text)[line - 1]);
    }
    return {};
  }

  Table table;

 private:
  tl::unexpected<Fault> without_lines(FunctionId id) {
    const Function& function = asked_.profile->function(id);
    const auto reason = places_.without_lines().find(function.object);
    if (function.object.empty())
      return fault(asked_.profile->name(id) + " is no function of a file", "`lines` lists lines");
    return fault(fmt::format("{} has no line numbers", asked_.profile->name(id)),
                 reason == places_.without_lines().end()
                     ? "compile its file with -g"
                     : reason->second.substr(0, reason->second.size() - 1));
  }

  // What has a value in the file, and what its lines' marks depend on.
  void find_values(const Region& region) {
    for (std::uint32_t item = 0; item < items_.size(); ++item) {
      const Place& place = items_.place(item);
      const Function& function = items_.function(item);
      if (function.object.empty()) continue;
      if (place.source.is_known() && place.source.file == region.file) {
        by_line_[place.source.line] = item;
        if (place.source.line >= region.begin && place.source.line <= region.end)
          marks_.regard(items_, item);
      } else if (!place.source.is_known()) {
        without_line_[index(place.function)] = item;
      }
    }
    for (std::uint32_t f = 0; f < asked_.profile->functions(); ++f) {
      const Function& function = asked_.profile->function(FunctionId{f});
      if (function.object.empty()) continue;
      const SourcePlace begin =
          places_.origin({function.file, function.address}, view_.interrupt).source;
      if (begin.file == region.file) functions_[begin.line].push_back(f);
    }
  }

  // A source that is younger than what was compiled from it may have other lines.
  void note_age(const Region& region, const std::string& found) {
    struct stat source {
    }, object{};
    if (found.empty() || stat(found.c_str(), &source) != 0) return;
    for (const auto& [line, functions] : functions_)
      for (const std::uint32_t f : functions) {
        const std::string& path = asked_.profile->function(FunctionId{f}).object;
        if (line < region.begin || line > region.end || stat(path.c_str(), &object) != 0 ||
            source.st_mtime <= object.st_mtime)
          continue;
        table.notes.push_back(fmt::format(
            "{} was changed after {} was built: lines may be other ones.", found, path));
        return;
      }
  }

  void add_functions(std::uint32_t line) {
    const auto at = functions_.find(line);
    if (at == functions_.end()) return;
    std::set<std::string> stems;
    for (const std::uint32_t f : at->second)
      stems.insert(std::string(without_clone(asked_.profile->name(FunctionId{f}))));
    for (const std::string& stem : stems) add_text({kNoLine, fmt::format("<Function: {}>", stem)});
    for (const std::uint32_t f : at->second)
      if (const auto item = without_line_.find(f); item != without_line_.end())
        add_row(item->second, Empty{}, {kNoLine, items_.name(item->second).text()});
  }

  void add_text(Code code) {
    Row row;
    row.emplace_back(std::string());
    for (std::size_t i = 0; i < list_.columns.size(); ++i) row.emplace_back(Empty{});
    row.emplace_back(Empty{});
    row.emplace_back(std::move(code));
    table.rows.push_back(std::move(row));
  }

  void add_row(std::uint32_t item, Cell line, Code code) {
    Row row;
    row.emplace_back(std::string(marks_.of(items_, item)));
    add_item_cells(row, list_, items_, item);
    row.push_back(std::move(line));
    row.emplace_back(std::move(code));
    table.rows.push_back(std::move(row));
  }

  void add_line(std::uint32_t line, bool has_code, const std::string& text) {
    Code code{fmt::format("{:>4}. ", line), text};
    if (const auto item = by_line_.find(line); item != by_line_.end())
      return add_row(item->second, std::uint64_t{line}, std::move(code));
    if (!has_code) {
      add_text(std::move(code));
      table.rows.back()[table.columns.size() - 2] = std::uint64_t{line};
      return;
    }
    Row row;
    row.emplace_back(std::string());
    for (const auto& each : list_.columns) {
      const auto& column = std::get<MetricColumn>(each);
      row.push_back(column.is_percent ? share_cell(0, 0) : value_cell(column.metric, 0));
    }
    row.emplace_back(std::uint64_t{line});
    row.emplace_back(std::move(code));
    table.rows.push_back(std::move(row));
  }

  Places& places_;
  const PlaceItems& items_;
  const Asked& asked_;
  const View& view_;
  MetricList list_;
  Marks marks_;
  std::string object_;                                   // of the function; empty: of a file
  std::map<std::uint32_t, std::uint32_t> by_line_;       // item
  std::map<std::uint32_t, std::uint32_t> without_line_;  // item, by function
  std::map<std::uint32_t, std::vector<std::uint32_t>> functions_;  // by their first line
};

// The source files that a word means: a path, or its end.
std::vector<SourceFileId> files_meant(const SourceFiles& files, const std::string& word) {
  std::vector<SourceFileId> found;
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const std::string& path = files.path(SourceFileId{i});
    if (path == word || (path.ends_with(word) && path[path.size() - word.size() - 1] == '/'))
      found.push_back(SourceFileId{i});
  }
  return found;
}

Result<SourceFileId> file_of(const SourceFiles& files, const FunctionChoice& choice) {
  const std::vector<SourceFileId> found = files_meant(files, choice.name);
  if (choice.number > found.size() || found.empty())
    return fault(fmt::format("{} means {} source file{}", choice.name, found.size(),
                             found.size() == 1 ? "" : "s"));
  if (choice.number != 0 || found.size() == 1)
    return found[choice.number == 0 ? 0 : choice.number - 1];
  std::string list;
  for (std::size_t i = 0; i < found.size(); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, files.path(found[i]));
  return fault(fmt::format("{} source files are meant by {}: {}", found.size(), choice.name, list),
               "append the number of one");
}

}  // namespace

Result<Table> source_report(Analysis& analysis, const View& view, const FunctionChoice& choice) {
  const auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const auto places = analysis.places(Grain::source, view.interrupt);
  if (!places) return tl::unexpected(places.error());
  const PlaceItems items(**places, *asked->profile, analysis.address_space());
  Listing listing(analysis, items, *asked, view);
  Region region;
  if (!files_meant(analysis.code().files(), choice.name).empty()) {
    const auto file = file_of(analysis.code().files(), choice);
    if (!file) return tl::unexpected(file.error());
    region.file = *file;
    region.with_code = analysis.code().lines_with_code(*file);
  } else {
    const auto function = chosen(choice, *asked);
    if (!function) return tl::unexpected(function.error());
    auto found = listing.of_function(*function);
    if (!found) return tl::unexpected(found.error());
    region = std::move(*found);
  }
  listing.table.notes = all_notes(analysis, *asked->profile, asked->shown);
  if (auto done = listing.add(region); !done) return tl::unexpected(done.error());
  return std::move(listing.table);
}

}  // namespace gnomon::reader
