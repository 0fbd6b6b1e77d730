// Text files of an experiment: lines of JSON that carry a checksum. Any thread.
#include "reader/experiment/json_lines.h"
#include "reader/experiment/json_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
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

// Gives the whole lines from the byte `at` on, without their ends; `at` is then behind the last.
Result<void> each_text(const std::string& path, std::uint64_t& at,
                       const std::function<Result<void>(std::string_view)>& take) {
  constexpr std::size_t kPiece = 1 << 16, kLongest = 4 << 20;  // bytes
  const auto file = File::open(path);
  if (!file) return tl::unexpected(file.error());
  std::string text;
  for (std::uint64_t from = at;;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const auto read = file->read(from, std::as_writable_bytes(std::span(text).subspan(before)));
    if (!read) return tl::unexpected(read.error());
    text.resize(before + *read);
    from += *read;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', std::max(begin, before))) != std::string::npos;
         begin = end + 1) {
      if (auto done = take(std::string_view(text).substr(begin, end - begin)); !done) return done;
      at += end + 1 - begin;
    }
    text.erase(0, begin);
    if (text.size() > kLongest)
      return fault(path + " is damaged: it has a line of more than 4 MiB", "record again");
    if (*read < kPiece) return {};
  }
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

Result<std::uint64_t> each_new_line(const std::string& path, std::uint64_t session,
                                    std::uint64_t& at, const TakeNewLine& take) {
  std::uint64_t damaged = 0;
  if (is_missing(path)) return damaged;
  auto done = each_text(path, at, [&](std::string_view line) -> Result<void> {
    const auto object = object_in(session, line);
    if (!object.is_object() || !take(object)) ++damaged;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return damaged;
}

Result<void> each_line(const std::string& path, std::uint64_t session, const TakeLine& take) {
  std::uint64_t at = 0, number = 0;
  return each_text(path, at, [&](std::string_view line) -> Result<void> {
    ++number;
    const auto object = object_in(session, line);
    if (object.is_object()) return take(object);
    return fault(fmt::format("{} is damaged in line {}", path, number), "record again");
  });
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
