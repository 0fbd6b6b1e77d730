// Functions that lines.c has inlined, one within the other.
static inline __attribute__((always_inline)) int wrapped(int value) {
  return value < 0 ? value % 1009 : value;
}

static inline __attribute__((always_inline)) int twice_and_more(int value, int factor) {
  int more = wrapped(value);
  return 2 * more + factor;
}
