// The name of a function as its source has it. Any thread.
#pragma once
#include <cstdint>
#include <string>

namespace gnomon::reader {

// of_ada: of a file whose names GNAT has encoded. Its encoding is not recognisable by itself.
enum class Names : std::uint8_t { of_others, of_ada };

// C++, Rust, D and Ada names are demangled, without Rust's hash, and those of procedures in Fortran
// modules; others, and those that decode to very much, are returned as they are. A symbol version
// ("@@GLIBC_2.34") is left out, "@plt" stays.
std::string display_name(const char* symbol, Names names = Names::of_others);

}  // namespace gnomon::reader
