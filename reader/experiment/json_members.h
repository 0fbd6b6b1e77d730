// Members of a line of JSON, where any may be missing or of another type. Any thread.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace gnomon::reader {

// A member of a line: `otherwise` where it is missing or of another type.
template <typename T>
T field(const nlohmann::json& object, const char* name, T otherwise = {}) {
  if (!object.is_object()) return otherwise;
  const auto at = object.find(name);
  if (at == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return at->is_string() ? at->template get<T>() : otherwise;
  else
    return at->is_number_unsigned() ? at->template get<T>() : otherwise;
}

// An object or array in a line; null: there is none.
nlohmann::json member(const nlohmann::json& object, const char* name);

// "0x1f" is 31; what is missing is 0.
std::uint64_t hex(const nlohmann::json& object, const char* name);

}  // namespace gnomon::reader
