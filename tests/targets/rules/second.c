// Compiled to second.s as first.c is.
static __attribute__((noinline)) int helper(int x) {
  return x * 5 + 2;
}

int fail(int code) __attribute__((cold, noinline));
int fail(int code) {
  return helper(code) * 2;
}
