// The name of a function as its source has it. Any thread.
#include "reader/symbols/display_name.h"

#include <cxxabi.h>
#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace gnomon::reader {
namespace {

constexpr std::string_view kPlt = "@plt";

using Text = std::unique_ptr<char, void (*)(void*)>;

// Rust first: its older names are C++ names with a hash for the innermost scope.
std::string of_cpp_or_rust(const std::string& name) {
  const Text rust(rust_demangle(name.c_str(), DMGL_NO_OPTS), std::free);
  if (rust) return rust.get();
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const Text plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return plain && status == 0 ? plain.get() : name;
}

// gfortran's "__module_MOD_procedure".
std::string of_fortran(const std::string& name) {
  constexpr std::string_view kInModule = "_MOD_";
  const auto at = name.find(kInModule);
  if (at == std::string::npos || at <= 2) return name;
  return name.substr(2, at - 2) + "::" + name.substr(at + kInModule.size());
}

// A name that is not encoded comes back between '<' and '>'.
std::string of_ada(const std::string& name) {
  const Text plain(ada_demangle(name.c_str(), DMGL_NO_OPTS), std::free);
  return plain && plain.get()[0] != '<' ? plain.get() : name;
}

std::string demangled(const std::string& name, Names names) {
  if (name.starts_with("_Z") || name.starts_with("_R")) return of_cpp_or_rust(name);
  if (name.starts_with("_D")) {
    const Text plain(dlang_demangle(name.c_str(), DMGL_NO_OPTS), std::free);
    return plain ? plain.get() : name;
  }
  if (name.starts_with("__")) return of_fortran(name);
  return names == Names::of_ada && name.find("__") != std::string::npos ? of_ada(name) : name;
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
