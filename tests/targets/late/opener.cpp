// Loads a library that stands in a folder which this library alone names.
#include <dlfcn.h>

// The loader takes who called from the return address: a call in tail position would come from
// someone else.
extern "C" void* late_open() {
  void* const library = dlopen("liblate_inner.so", RTLD_NOW);
  asm volatile("");
  return library;
}
