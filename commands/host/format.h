// In which form a report is printed. Any thread.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace gnomon::commands {

enum class Format { text, json, csv, html };
inline constexpr std::array<std::string_view, 4> kFormats{"text", "json", "csv", "html"};

constexpr std::string_view name_of(Format format) {
  return kFormats[static_cast<std::size_t>(format)];
}
inline std::optional<Format> format_named(std::string_view name) {
  const auto* const at = std::find(kFormats.begin(), kFormats.end(), name);
  if (at == kFormats.end()) return std::nullopt;
  return static_cast<Format>(at - kFormats.begin());
}

}  // namespace gnomon::commands
