// Binds a program that was linked before the collector came to the hooks, and unbinds it. Normal
// context.
#pragma once
#include <cstdint>

#include "libcollector/hook/hook.h"

namespace gnomon::collector {

struct Bound {
  std::uint32_t slots =
      0;  // words of load objects that led to an original and now lead to its replacement
  std::uint32_t symbols =
      0;  // of the originals' definers, which lead later bindings and dlsym to the replacements
  std::uint32_t refused =
      0;  // words and symbols that could not be changed, or not even be searched for
};
// Binds every load object, and those loaded later, to the hooks. A word that holds another address
// stays as it is: another library interposes there, or the program has made a copy.
// Their originals were looked up before. Takes the loader's lock; other threads may run.
Bound bind_hooks(HookGroups groups);
// Undoes bind_hooks(): whatever leads to a replacement leads to its original again. Takes the
// loader's lock; other threads may run.
Bound unbind_hooks(HookGroups groups);

// Returns the path of the object that defines `name` for the program if that is neither this
// library nor libc; null otherwise. Takes the loader's lock.
const char* bound_elsewhere(const char* name);

}  // namespace gnomon::collector
