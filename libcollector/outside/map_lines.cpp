// What map.jsonl says that is loaded in the recorded process, line after line as they are written.
// In gnomon-sampler.
#include "libcollector/outside/map_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "libcollector/format/names.h"

namespace gnomon::outside {
namespace {

using Json = nlohmann::json;

std::uint64_t hex_in(const Json& line, const char* key) {
  const auto at = line.find(key);
  if (at == line.end() || !at->is_string()) return 0;
  return std::strtoull(at->get_ref<const std::string&>().c_str(), nullptr, 16);
}

template <typename T>
T number_in(const Json& line, const char* key) {
  const auto at = line.find(key);
  return at == line.end() || !at->is_number_unsigned() ? T{} : at->get<T>();
}

}  // namespace

std::vector<MapLines::Line> MapLines::next_lines(const collector::ExperimentDirectory& directory) {
  std::vector<Line> lines;
  const int file = directory.open_file(format::kMapFile, O_RDONLY);
  if (file < 0) return lines;
  char piece[16384];
  for (ssize_t n; (n = pread(file, piece, sizeof piece, static_cast<off_t>(offset_))) > 0;) {
    rest_.append(piece, static_cast<std::size_t>(n));
    offset_ += static_cast<std::uint64_t>(n);
  }
  close(file);
  for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
    const Json line = Json::parse(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end),
                                  nullptr, false);
    if (!line.is_object() || !line.contains("event")) continue;
    lines.push_back({line["event"] == "load",
                     {hex_in(line, "begin"), hex_in(line, "end")},
                     hex_in(line, "bias"),
                     number_in<std::uint64_t>(line, "time"),
                     number_in<std::uint32_t>(line, "epoch")});
  }
  return lines;
}

void MapLines::forget(const collector::ByteRange& where) {
  std::erase_if(loaded_, [&](const Loaded& each) {
    return each.where.begin < where.end && where.begin < each.where.end;
  });
}

bool MapLines::has(const collector::ByteRange& where, std::uint64_t bias) const {
  return std::any_of(loaded_.begin(), loaded_.end(), [&](const Loaded& each) {
    return each.bias == bias && each.where.begin < where.end && where.begin < each.where.end;
  });
}

std::uint32_t MapLines::epoch_at(std::uint64_t time) const {
  std::uint32_t number = 0;
  for (const Epoch& epoch : epochs_)
    if (epoch.begin <= time) number = std::max(number, epoch.number);
  return number;
}

}  // namespace gnomon::outside
