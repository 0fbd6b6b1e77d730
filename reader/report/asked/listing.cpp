// A listing of code: lines or instructions with metrics on their left. Any thread.
#include "reader/report/asked/listing.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace gnomon::reader {

Listing::Listing(const Items& items, const MetricList& metrics, double threshold,
                 std::vector<Column> hidden)
    : items_(items),
      metrics_(metrics_only(metrics)),
      threshold_(threshold),
      hidden_(hidden.size()),
      largest_(metrics_.columns.size()) {
  table.columns.push_back({"hot", {}, true});
  for (Column& column : columns_of(metrics_))
    if (column.id != "name") table.columns.push_back(std::move(column));
  for (Column& column : hidden) table.columns.push_back(std::move(column));
  table.columns.push_back({"code", {}, true});
}

std::uint64_t Listing::value(const MetricColumn& column,
                             std::span<const std::uint32_t> items) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t item : items) sum += items_.value(column.flavour, column.metric, item);
  return sum;
}

void Listing::regard(std::span<const std::uint32_t> items) {
  for (std::size_t c = 0; c < largest_.size(); ++c)
    largest_[c] = std::max(largest_[c], value(std::get<MetricColumn>(metrics_.columns[c]), items));
}

void Listing::finish(Row row, Row hidden, Code code) {
  hidden.resize(hidden_, Empty{});
  for (Cell& cell : hidden) row.push_back(std::move(cell));
  row.emplace_back(std::move(code));
  table.rows.push_back(std::move(row));
}

void Listing::add(std::span<const std::uint32_t> items, Row hidden, Code code) {
  Row row;
  bool is_hot = false;
  row.emplace_back(std::string());
  for (std::size_t c = 0; c < largest_.size(); ++c) {
    const auto& column = std::get<MetricColumn>(metrics_.columns[c]);
    const std::uint64_t own = value(column, items);
    const std::uint64_t total = items_.value(column.flavour, column.metric, items_.total());
    row.push_back(column.is_percent ? share_cell(own, total) : value_cell(column.metric, own));
    is_hot = is_hot || (own != 0 && 100 * static_cast<double>(own) >=
                                        threshold_ * static_cast<double>(largest_[c]));
  }
  if (is_hot) row.front() = std::string("##");
  finish(std::move(row), std::move(hidden), std::move(code));
}

void Listing::add_text(Code code, Row hidden) {
  Row row(metrics_.columns.size() + 1, Empty{});
  row.front() = std::string();
  finish(std::move(row), std::move(hidden), std::move(code));
}

const SourceTexts::Text& SourceTexts::of(SourceFileId file) {
  const auto [at, is_new] = texts_.try_emplace(file);
  Text& text = at->second;
  if (!is_new) return text;
  text.found = search_.find(places_.files().path(file));
  if (text.found.empty()) return text;
  auto lines = read_lines(text.found);
  if (lines)
    text.lines = std::move(*lines);
  else
    text.fault = sentence(lines.error());
  return text;
}

std::string SourceTexts::line(SourceFileId file, std::uint32_t number) {
  const Text& text = of(file);
  return number != 0 && number <= text.lines.size() ? text.lines[number - 1] : "";
}

std::string SourceTexts::title(SourceFileId file) {
  const std::string& path = places_.files().path(file);
  const std::string& now = found(file);
  return now.empty() || now == path ? "Source file: " + path
                                    : fmt::format("Source file: {} (found as {})", path, now);
}

std::vector<std::string> SourceTexts::notes(SourceFileId file, const std::string& object) {
  std::vector<std::string> notes;
  const Text& text = of(file);
  if (text.found.empty())
    notes.push_back(places_.files().path(file) +
                    " is not there, so that lines have no text; `pathmap OLD NEW` says where "
                    "sources went, `setpath DIRECTORY` where to look for them.");
  if (!text.fault.empty()) notes.push_back("lines have no text: " + text.fault);
  // A source that is younger than what was compiled from it may have other lines.
  struct stat of_source {
  }, of_object{};
  if (!text.lines.empty() && stat(text.found.c_str(), &of_source) == 0 &&
      stat(object.c_str(), &of_object) == 0 && of_source.st_mtime > of_object.st_mtime)
    notes.push_back(fmt::format("{} was changed after {} was built: lines may be other ones.",
                                text.found, object));
  return notes;
}

}  // namespace gnomon::reader
