// The name of a function as its source has it. Any thread.
#pragma once
#include <string>

namespace gnomon::reader {

// C++ and Rust names are demangled, without Rust's hash; others are returned as they are. A symbol
// version ("@@GLIBC_2.34") is left out, "@plt" stays.
std::string display_name(const char* symbol);

}  // namespace gnomon::reader
