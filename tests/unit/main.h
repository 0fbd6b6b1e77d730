// What the unit tests' command line says.
#pragma once

namespace gnomon::test {

// --update: golden tests store what the reports say now.
inline bool is_update = false;

}  // namespace gnomon::test
