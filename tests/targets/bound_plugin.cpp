// Loaded by a program that is being recorded: makes a thread in its constructor, and another when
// told.
#include <pthread.h>

#include "tests/targets/burn.h"

namespace {

[[gnu::noipa]] void* in_constructor_thread(void*) {
  burn(0.3);
  asm volatile("");
  return nullptr;
}
[[gnu::noipa]] void* in_plugin_thread(void*) {
  burn(0.3);
  asm volatile("");
  return nullptr;
}

pthread_t made;

[[gnu::constructor]] void make() { pthread_create(&made, nullptr, in_constructor_thread, nullptr); }

}  // namespace

extern "C" [[gnu::visibility("default")]] void run_plugin() {
  pthread_t too;
  if (pthread_create(&too, nullptr, in_plugin_thread, nullptr) == 0) pthread_join(too, nullptr);
  pthread_join(made, nullptr);
}
