// A library that is loaded, run and unloaded: see reload.cpp.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void work_of_b(double (*cpu_time)(),
                                                                        double until) {
  while (cpu_time() < until) asm volatile("" ::: "memory");
  asm volatile("" ::: "memory");
}
