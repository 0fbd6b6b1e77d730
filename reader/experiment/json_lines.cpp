// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#include "reader/experiment/json_lines.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "libcollector/format/text.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

bool check_is_right(std::string_view line) {
  if (line.size() < format::kCheckBytes) return false;
  const std::string_view body = line.substr(0, line.size() - format::kCheckBytes);
  return line.substr(body.size()) == fmt::format("{}{:08x}{}", format::kCheckKey,
                                                 format::line_check(body.data(), body.size()),
                                                 format::kCheckEnd);
}

// Not an object: the line is damaged.
nlohmann::json object_in(std::string_view line) {
  return check_is_right(line) ? nlohmann::json::parse(line, nullptr, false)
                              : nlohmann::json(nlohmann::json::value_t::discarded);
}

}  // namespace

Result<NewLines> read_new_lines(const std::string& path, std::uint64_t& at) {
  if (is_missing(path)) return NewLines{};
  auto text = read_text(path, at);
  if (!text) return tl::unexpected(text.error());
  NewLines lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text->find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto object = object_in({text->data() + begin, end - begin});
    if (object.is_object())
      lines.whole.push_back(std::move(object));
    else
      ++lines.damaged;
  }
  at += begin;
  return lines;
}

Result<std::vector<nlohmann::json>> read_lines(const std::string& path) {
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;
    auto object = object_in({text->data() + at, end - at});
    if (!object.is_object())
      return fault(fmt::format("{} is damaged in line {}", path, lines.size() + 1), "record again");
    lines.push_back(std::move(object));
    at = end + 1;
  }
  return lines;
}

nlohmann::json member(const nlohmann::json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return at == object.end() ? nlohmann::json() : *at;
}

std::uint64_t hex(const nlohmann::json& object, const char* name) {
  const auto text = field<std::string>(object, name);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 16);
}

}  // namespace gnomon::reader
