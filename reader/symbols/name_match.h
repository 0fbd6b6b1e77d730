// Whether what a user typed means a function. Any thread.
#pragma once
#include <string>
#include <string_view>

namespace gnomon::reader {

// word: a display name, or its end from a component on; parameters may be left away, template
// arguments, and what a compiler adds for a part or a copy of a function. So "sort", "util::sort"
// and "util::sort<int>(int)" mean "void util::sort<int>(int) [clone .isra.0]".
bool names_function(std::string_view word, std::string_view display_name);

// The name without what a compiler adds for a part or a copy of a function: "f.part.0",
// "f(int) [clone .isra.0]", "step._omp_fn.0".
std::string_view without_clone(std::string_view display_name);

// The name without parameters and qualifiers: "util::sort<int>" of "util::sort<int>(int) const".
// What a compiler added stays: "f [clone .cold]" of "f(int) [clone .cold]".
std::string plain_name(std::string_view display_name);

}  // namespace gnomon::reader
