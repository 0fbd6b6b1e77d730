// Mangled names of C++, Rust, D and Ada, which anybody may have written. Any thread.
#pragma once
#include <optional>
#include <string>

namespace gnomon::reader {

// None: it is no such name, or it decodes to more than 64 KiB (a name of 300 characters can decode
// to gigabytes, by back references). They need at most 1.5 MiB of stack.
std::optional<std::string> demangle_cpp(const std::string& name);
std::optional<std::string> demangle_rust(const std::string& name);
std::optional<std::string> demangle_d(const std::string& name);
// Encoding of GNAT. None also: the name is not encoded.
std::optional<std::string> demangle_ada(const std::string& name);

}  // namespace gnomon::reader
