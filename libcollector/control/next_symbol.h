// The function that an interposed one stands before. Normal context: takes the loader's lock.
#pragma once
#include <dlfcn.h>

namespace gnomon::collector {

// Looked up at the first use, or before: afterwards any context. One word, so that two look-ups at
// the same time do no harm.
template <typename Function>
struct NextSymbol {
  const char *name, *version;
  Function found = nullptr;

  // Null: this libc does not have it.
  Function get() {
    if (found) return found;
    void* symbol = dlvsym(RTLD_NEXT, name, version);
    if (!symbol) symbol = dlsym(RTLD_NEXT, name);
    return found = reinterpret_cast<Function>(symbol);
  }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }
};

}  // namespace gnomon::collector
