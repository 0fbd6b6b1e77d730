// A program that was linked before the collector came is bound to our functions. Normal context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

struct Bound {
  std::uint32_t slots = 0;    // words of load objects that led to libc, and lead to us
  std::uint32_t symbols = 0;  // of libc's, by which what is linked or looked up later leads to us
  std::uint32_t refused = 0;  // of both: what could not be changed, or not even be looked for
};
// Binds every load object there is to the hooks, and those to come. A word that leads somewhere
// else, because somebody else stands before libc, stays as it is, and so do copies that the program
// has made. Takes the loader's lock; other threads may run. The hooks' functions were found before.
Bound bind_hooks();
// Whatever leads to us leads to libc again, and what is linked later too. As above.
Bound unbind_hooks();

// The path of the object whose `name` the program is linked to, if that is neither ours nor the one
// behind it, to which what could not be changed still leads. Null: it is. Takes the loader's lock.
const char* bound_elsewhere(const char* name);

}  // namespace gnomon::collector
