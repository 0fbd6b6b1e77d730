// Hooks: a row for each libc function that the collector replaces. Normal context.
#include "libcollector/hook/hook.h"

#include <dlfcn.h>

#include <cstdint>
#include <iterator>

#include "libcollector/format/attach.h"

extern "C" {
// The linker's names for the bounds of the section that GNOMON_HOOK fills.
extern const gnomon::collector::Hook __start_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
extern const gnomon::collector::Hook __stop_gnomon_hooks[]  // NOLINT
    __attribute__((visibility("hidden")));
}

namespace gnomon::collector {

void* NextFunction::find() {
  if (found) return found;
  void* symbol = dlvsym(RTLD_NEXT, name, version);
  if (!symbol) symbol = dlsym(RTLD_NEXT, name);
  return found = symbol;
}

Hooks all_hooks() { return {__start_gnomon_hooks, __stop_gnomon_hooks}; }

extern "C" {
__attribute__((visibility("default")))
format::HookedFunction gnomon_hook_table[format::kHooks] = {};
}

void find_originals() {
  format::HookedFunction* row = gnomon_hook_table;
  for (const Hook& hook : all_hooks()) {
    hook.original->find();
    if (row == std::end(gnomon_hook_table)) continue;
    *row++ = {reinterpret_cast<std::uint64_t>(hook.replacement),
              reinterpret_cast<std::uint64_t>(hook.original->found)};
  }
}

}  // namespace gnomon::collector
