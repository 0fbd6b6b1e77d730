// A library for the program `stacks`: counts in a function of its own.
extern "C" [[gnu::noinline]] void library_counts(long number) {
  for (long i = 0; i < number; ++i) asm volatile("");
}
