// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#include "reader/experiment/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "libcollector/format/text.h"
#include "reader/io/file.h"

namespace gnomon::reader {
namespace {

bool check_is_right(std::uint64_t session, std::string_view line) {
  if (line.size() < format::kCheckBytes) return false;
  const std::string_view body = line.substr(0, line.size() - format::kCheckBytes);
  return line.substr(body.size()) ==
         fmt::format("{}{:08x}{}", format::kCheckKey,
                     format::line_check(session, body.data(), body.size()), format::kCheckEnd);
}

// Not an object: the line is damaged.
nlohmann::json object_in(std::uint64_t session, std::string_view line) {
  return check_is_right(session, line) ? nlohmann::json::parse(line, nullptr, false)
                                       : nlohmann::json(nlohmann::json::value_t::discarded);
}

}  // namespace

bool LineNumbers::add(const nlohmann::json& line) {
  constexpr std::uint64_t kMost = 1 << 24, kNone = ~std::uint64_t{0};
  const auto number = field<std::uint64_t>(line, "line", kNone);
  if (number >= kMost) return false;
  if (number >= met_.size()) met_.resize(number + 1);
  if (met_[number]) return false;
  return met_[number] = true;
}

std::uint64_t LineNumbers::missing(std::uint64_t begun) const {
  const std::uint64_t known = std::min<std::uint64_t>(begun, met_.size());
  const auto end = met_.begin() + static_cast<std::ptrdiff_t>(known);
  return begun - static_cast<std::uint64_t>(std::count(met_.begin(), end, true));
}

Result<NewLines> read_new_lines(const std::string& path, std::uint64_t session, std::uint64_t& at) {
  if (is_missing(path)) return NewLines{};
  auto text = read_text(path, at);
  if (!text) return tl::unexpected(text.error());
  NewLines lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text->find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto object = object_in(session, {text->data() + begin, end - begin});
    if (object.is_object())
      lines.whole.push_back(std::move(object));
    else
      ++lines.damaged;
  }
  at += begin;
  return lines;
}

Result<std::vector<nlohmann::json>> read_lines(const std::string& path, std::uint64_t session) {
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;
    auto object = object_in(session, {text->data() + at, end - at});
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
