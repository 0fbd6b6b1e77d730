// Interposed: dlclose, after which an address may come to mean another function. Normal context.
#include "libcollector/core/loaded_hold.h"
#include "libcollector/hook/hook.h"
#include "libcollector/target/code.h"

namespace gnomon::collector {
namespace {

using Close = int (*)(void*);
constinit NextSymbol<Close> real_dlclose{"dlclose", "GLIBC_2.34"};

int unload(void* object) {
  const Unloading during;
  return real_dlclose(object);
}

int close(void* object) {
  const int result = unload(object);
  if (result == 0) forget_unloaded();
  return result;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"), symver("dlclose@@GLIBC_2.34"))) int gnomon_dlclose_2_34(
    void* object) {
  return close(object);
}

__attribute__((visibility("default"), symver("dlclose@GLIBC_2.2.5"))) int gnomon_dlclose_2_2_5(
    void* object) {
  return close(object);
}
}

namespace {

GNOMON_HOOK(gnomon_dlclose_2_34, real_dlclose);

}  // namespace

}  // namespace gnomon::collector
