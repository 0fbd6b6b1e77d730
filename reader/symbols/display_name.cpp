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

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

// Rust first: its older names are C++ names with a hash for the innermost scope.
std::string demangled(const std::string& name) {
  const bool cpp = begins(name, "_Z");
  if (!cpp && !begins(name, "_R")) return name;
  const Text rust(rust_demangle(name.c_str(), DMGL_NO_OPTS), std::free);
  if (rust) return rust.get();
  if (!cpp) return name;
  int status = 0;
  const Text plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return plain && status == 0 ? plain.get() : name;
}

}  // namespace

std::string display_name(const char* symbol) {
  std::string name = symbol;
  const std::string_view tail = ends(name, kPlt) ? kPlt : std::string_view();
  name.resize(name.size() - tail.size());
  if (const auto at = name.find('@'); at != std::string::npos && at > 0) name.resize(at);
  return demangled(name).append(tail);
}

}  // namespace gnomon::reader
