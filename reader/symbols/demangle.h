// Mangled names of C++, Rust, D and Ada, which anybody may have written. Any thread.
#pragma once
#include <optional>
#include <string>

namespace gnomon::reader {

// Return the name as its language writes it, or nothing if the word is no such name. By back
// references 300 characters can decode to gigabytes: a name longer than 64 KiB is cut behind the
// first KiB, and "..." added (D and Ada: nothing). They need at most 1.5 MiB of stack.
std::optional<std::string> demangle_cpp(const std::string& name);
std::optional<std::string> demangle_rust(const std::string& name);
std::optional<std::string> demangle_d(const std::string& name);
// Encoding of GNAT. None also: the name is not encoded.
std::optional<std::string> demangle_ada(const std::string& name);

}  // namespace gnomon::reader
