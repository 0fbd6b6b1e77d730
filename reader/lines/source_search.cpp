// Finds source files where they are now. Any thread.
#include "reader/lines/source_search.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool lies_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory) &&
         (directory.ends_with('/') || path.size() == directory.size() ||
          path[directory.size()] == '/');
}

}  // namespace

std::string SourceSearch::find(const std::string& path) const {
  for (const auto& [was, is] : maps)
    if (lies_below(path, was))
      if (std::string mapped = is + path.substr(was.size()); is_file(mapped)) return mapped;
  if (is_file(path)) return path;
  for (const std::string& directory : directories) {
    std::string_view end = path;
    for (auto slash = std::size_t{0}; slash != std::string::npos; slash = end.find('/')) {
      if (end.starts_with('/') || slash != 0) end.remove_prefix(slash + 1);
      if (std::string below = fmt::format("{}/{}", directory, end); is_file(below)) return below;
    }
  }
  return "";
}

Result<std::vector<std::string>> read_lines(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    lines.push_back(text->substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

}  // namespace gnomon::reader
