// Functions of libc's that ours stand before: their rows and what is behind. Normal context.
#include "libcollector/control/hook.h"

#include <dlfcn.h>

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

void find_behind_hooks() {
  for (const Hook& hook : all_hooks()) hook.behind->find();
}

}  // namespace gnomon::collector
