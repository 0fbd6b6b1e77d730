// Calls a library that comes with it.
extern "C" int io_uring_submit(void*);

extern "C" int late_use(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += io_uring_submit(nullptr);
  return sum;
}
