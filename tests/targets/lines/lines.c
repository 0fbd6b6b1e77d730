// Compiled to lines.s, whose instructions and line numbers the tests know:
//   gcc -S -O2 -g1 -fno-tree-vectorize -fno-asynchronous-unwind-tables -fdebug-prefix-map=$PWD=/src lines.c
#include "lines.h"

static __attribute__((noinline)) int spread(int *cells, int count, int factor) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    cells[i] = twice_and_more(cells[i], factor);
    sum += cells[i];
  }
  return sum;
}

__attribute__((noinline)) int visit(int *cells, int depth) {
  if (depth == 0) return spread(cells, 64, 3);
  return visit(cells, depth - 1) + cells[depth];
}

int work(int *cells) {
  int sum = visit(cells, 4);
  sum += spread(cells, 16, 3);
  return sum;
}
