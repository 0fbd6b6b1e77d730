// The name of a function as its source has it. Any thread.
#include "reader/symbols/display_name.h"

#include <string_view>

#include "reader/symbols/demangle.h"

namespace gnomon::reader {
namespace {

constexpr std::string_view kPlt = "@plt";

// Rust first: its older names are C++ names with a hash for the innermost scope.
std::string of_cpp_or_rust(const std::string& name) {
  if (auto rust = demangle_rust(name)) return *rust;
  return name.starts_with("_Z") ? demangle_cpp(name).value_or(name) : name;
}

// gfortran's "__module_MOD_procedure".
std::string of_fortran(const std::string& name) {
  constexpr std::string_view kInModule = "_MOD_";
  const auto at = name.find(kInModule);
  if (at == std::string::npos || at <= 2) return name;
  return name.substr(2, at - 2) + "::" + name.substr(at + kInModule.size());
}

std::string demangled(const std::string& name, Names names) {
  if (name.starts_with("_Z") || name.starts_with("_R")) return of_cpp_or_rust(name);
  if (name.starts_with("_D")) return demangle_d(name).value_or(name);
  if (name.starts_with("__")) return of_fortran(name);
  const bool is_encoded = names == Names::of_ada && name.find("__") != std::string::npos;
  return is_encoded ? demangle_ada(name).value_or(name) : name;
}

}  // namespace

std::string display_name(const char* symbol, Names names) {
  std::string name = symbol;
  const std::string_view tail = name.ends_with(kPlt) ? kPlt : std::string_view();
  name.resize(name.size() - tail.size());
  if (const auto at = name.find('@'); at != std::string::npos && at > 0) name.resize(at);
  return demangled(name, names).append(tail);
}

}  // namespace gnomon::reader
