// A library for the program `stacks`: counts in a function of its own, and runs what it is told
// when it is unloaded.
extern "C" {

[[gnu::noinline]] void library_counts(long number) {
  for (long i = 0; i < number; ++i) asm volatile("");
}

void (*library_at_unload)(long) = nullptr;
long library_number = 0;
}

namespace {

[[gnu::destructor]] void at_unload() {
  if (library_at_unload) library_at_unload(library_number);
}

}  // namespace
