// What the unwinder's oracle test steps through: one function a shape of frame, built once a set of
// compiler flags (BODIES names it).
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace BODIES {

using Number = unsigned long;
volatile Number sink;

[[gnu::noinline]] Number leaf(Number x) { return x * 3 + (x >> 5); }

[[gnu::noinline]] Number leaf_in_red_zone(Number x) {
  volatile Number words[8];
  for (int i = 0; i < 8; ++i) words[i] = x + static_cast<Number>(i);
  return words[x & 7] + words[3];
}

// Wants every register a call keeps, so prologue and epilogue are long.
[[gnu::noinline]] Number many_registers(Number a, Number b, Number c, Number d, Number e,
                                        Number f) {
  Number g = a ^ 1, h = b ^ 2;
  for (int i = 0; i < 3; ++i) {
    a += leaf(b), b += leaf(c), c += leaf(d), d += leaf(e), e += leaf(f), f += leaf(g),
        g += leaf(h), h += a;
  }
  return a + b + c + d + e + f + g + h;
}

[[gnu::noinline]] Number recursion(Number depth) {
  return depth == 0 ? leaf_in_red_zone(7) : recursion(depth - 1) + leaf(depth);
}

[[gnu::noinline]] Number with_alloca(Number bytes) {
  auto* room = static_cast<char*>(alloca(bytes));
  std::memset(room, 1, bytes);
  return leaf(static_cast<Number>(room[bytes / 2])) + recursion(2);
}

[[gnu::noinline]] Number large_frame(Number x) {
  volatile char room[20000];
  room[x % sizeof room] = 1;
  return recursion(3) + static_cast<Number>(room[x % sizeof room]);
}

// The stack is realigned: the CFA is kept in memory below rbp.
[[gnu::noinline]] Number aligned_frame(Number x) {
  alignas(64) volatile Number words[16];
  words[x & 15] = x;
  return with_alloca(64 + (x & 63)) + words[x & 15];
}

[[gnu::noinline]] Number aligned_with_alloca(Number x) {
  alignas(64) volatile Number words[16];
  auto* room = static_cast<volatile char*>(alloca(x & 255));
  words[x & 15] = x;
  if (x & 255) room[0] = 1;
  return many_registers(x, 2, 3, 4, 5, words[x & 15]);
}

[[gnu::noinline]] Number early_return(Number x) {
  if (x < 3) return 1;
  return many_registers(x, x, x, x, x, x);
}

[[gnu::noinline]] Number tail_call(Number x) { return early_return(x + 1); }

[[gnu::noinline]] Number many_arguments(Number a, Number b, Number c, Number d, Number e, Number f,
                                        Number g, Number h, Number i) {
  return recursion(1) + a + b + c + d + e + f + g + h + i;
}

struct Shape {
  virtual ~Shape() = default;
  virtual Number area(Number x) const { return leaf(x); }
};
struct Square : Shape {
  Number area(Number x) const override { return Shape::area(x) * x; }
};

[[gnu::noinline]] Number through_virtual(const Shape& shape) { return shape.area(5); }

int compare(const void* a, const void* b) {
  const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
  return (x > y) - (x < y);
}

// libc calls back; the functions of libc are reached through the PLT.
[[gnu::noinline]] Number through_libc() {
  int numbers[] = {5, 3, 9, 1, 7};
  std::qsort(numbers, 5, sizeof numbers[0], compare);
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%d %s %.3f", numbers[0], "word", 2.5);
  return static_cast<Number>(length) + std::strtoul("77", nullptr, 10);
}

[[gnu::noinline]] Number through_libstdcxx() {
  std::vector<std::string> words;
  for (int i = 0; i < 5; ++i) words.push_back(std::to_string(i * 7919) + " and some more text");
  std::sort(words.begin(), words.end());
  return words.front().size();
}

[[gnu::noinline]] Number thrower(Number x) {
  if (x > 2) throw std::runtime_error("caught below");
  return x;
}

[[gnu::noinline]] Number through_exception() {
  try {
    return thrower(recursion(1) | 4);
  } catch (const std::exception& error) {
    return std::strlen(error.what());
  }
}

[[gnu::noinline]] void on_signal(int) {
  // The kernel enters a handler without the trap flag.
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
  sink = recursion(2);
}

[[gnu::noinline]] Number through_signal(int flags) {
  static char room[64 * 1024];
  stack_t stack{}, before{};
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  sigaltstack(&stack, &before);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, nullptr);
  // raise() would block the trap.
  syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
  sigaltstack(&before, nullptr);
  return sink;
}

[[gnu::noinline]] void jumper(jmp_buf& to) {
  sink = leaf(4);
  longjmp(to, 1);
}

[[gnu::noinline]] Number through_jump() {
  static jmp_buf here;
  if (setjmp(here) == 0) jumper(here);
  return recursion(1);
}

void run() {
  Number sum = leaf(1) + leaf_in_red_zone(2) + many_registers(1, 2, 3, 4, 5, 6) + recursion(6);
  sum += with_alloca(100) + large_frame(5000) + aligned_frame(3) + aligned_with_alloca(77);
  sum += early_return(1) + tail_call(9) + many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
  sum += through_virtual(Square{}) + through_virtual(Shape{});
  sum += through_libc() + through_libstdcxx() + through_signal(0) + through_signal(SA_ONSTACK);
  sum += through_exception() + through_jump();
  sink = sum;
}

}  // namespace BODIES
