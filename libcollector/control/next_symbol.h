// The function that an interposed one stands before. Normal context: takes the loader's lock.
#pragma once
#include <dlfcn.h>

namespace gnomon::collector {

template <typename Function>
Function next_symbol(const char* name, const char* version) {
  if (void* found = dlvsym(RTLD_NEXT, name, version)) return reinterpret_cast<Function>(found);
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace gnomon::collector
