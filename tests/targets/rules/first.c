// Compiled to first.s, whose instructions the tests know:
//   gcc -S -O2 -fPIC -g1 -fno-tree-vectorize -fno-asynchronous-unwind-tables -fdebug-prefix-map=$PWD=/src first.c
int fail(int code) __attribute__((cold, noinline));

// Another one is in second.c.
static __attribute__((noinline)) int helper(int x) {
  return x * 3 + 1;
}

int aliased(int x) {
  return helper(x) ^ 5;
}
int __aliased(int x) __attribute__((alias("aliased")));
int alias(int x) __attribute__((alias("aliased")));

// What seldom runs becomes outlined.cold.
int outlined(int x) {
  if (__builtin_expect(x < 0, 0)) return fail(x) + fail(x + 1);
  return helper(x);
}

int fast(int x) {
  return x + x;
}
static int (*choose(void))(int) {
  return fast;
}
int chosen(int x) __attribute__((ifunc("choose")));

#line 100 "grammar.y"
int generated(int x) {
  return x / 7 + helper(x);
}
