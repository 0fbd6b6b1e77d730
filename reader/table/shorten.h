// Names that fit a line. Any thread.
#pragma once
#include <cstddef>
#include <string>

namespace gnomon::reader {

// Columns on a terminal, of text without wide characters.
std::size_t width_of(const std::string& utf8);

// At most `width` columns, at least 3. What says least goes first: parameters, template arguments,
// the return type, outer scopes, the middle of the last name.
std::string shortened(const std::string& name, std::size_t width);

}  // namespace gnomon::reader
