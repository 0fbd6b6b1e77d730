// Preloaded: stands between the program and libc's pthread_create, as some allocators do.
#include <dlfcn.h>
#include <pthread.h>

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
Create behind = nullptr;

[[gnu::constructor]] void find() {
  behind = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* id,
                                                             const pthread_attr_t* attributes,
                                                             void* (*routine)(void*),
                                                             void* argument) noexcept {
  return behind(id, attributes, routine, argument);
}
