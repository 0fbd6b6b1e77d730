// Call stacks that are hard to walk: stacks WAY [LIBRARY], about a fifth of a second of CPU time in
// each. main calls middle, which calls what the way is about.
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "burn.h"

namespace {

using Counts = void (*)(long);
constexpr long kLoops = 600'000'000;

}  // namespace

// counts_in_red_zone keeps its CFA in a word below the stack pointer: breg7 -8; deref; lit8; lit1;
// mul; plus. counts_without_rule has no unwind information, and moves the stack pointer.
asm(R"(
.text
.type counts_in_red_zone, @function
counts_in_red_zone:
  .cfi_startproc
  mov %rsp, -8(%rsp)
  .cfi_escape 0x0f, 0x07, 0x77, 0x78, 0x06, 0x38, 0x31, 0x1e, 0x22
1: dec %rdi
  jnz 1b
  ret
  .cfi_endproc
.size counts_in_red_zone, . - counts_in_red_zone
.type counts_without_rule, @function
counts_without_rule:
  push %rbx
  sub $40, %rsp
1: dec %rdi
  jnz 1b
  add $40, %rsp
  pop %rbx
  ret
.size counts_without_rule, . - counts_without_rule
)");
extern "C" void counts_in_red_zone(long);
extern "C" void counts_without_rule(long);

namespace {

// The same loop as code made at run time.
Counts made() {
  static constexpr unsigned char kCode[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
  void* code = mmap(nullptr, sizeof kCode, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) std::exit(3);
  std::memcpy(code, kCode, sizeof kCode);
  return reinterpret_cast<Counts>(code);
}

void* library_of(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) std::exit(4);
  return library;
}

Counts of_library(const char* path) {
  return reinterpret_cast<Counts>(dlsym(library_of(path), "library_counts"));
}

void* library = nullptr;
void unloads(long number) {
  *static_cast<Counts*>(dlsym(library, "library_at_unload")) = counts_without_rule;
  *static_cast<long*>(dlsym(library, "library_number")) = number;
  dlclose(library);
}

}  // namespace

extern "C" {

[[gnu::noinline]] void burns(long) {
  burn(0.2);
  asm volatile("");
}

[[gnu::noinline]] void recurses(long depth) {
  if (depth == 0)
    burns(0);
  else
    recurses(depth - 1);
  asm volatile("");
}

ucontext_t back;

[[gnu::noinline]] void begins_fiber() {
  burns(0);
  setcontext(&back);
}

[[gnu::noinline]] void switches(long) {
  static char stack[256 * 1024];
  static ucontext_t fiber;
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = sizeof stack;
  fiber.uc_link = &back;
  makecontext(&fiber, begins_fiber, 0);
  swapcontext(&back, &fiber);
}

[[gnu::noinline]] void middle(Counts counts, long number) {
  char room[200];
  asm volatile("" : : "r"(room) : "memory");
  counts(number);
  asm volatile("");
}
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(way, word) == 0; };
  if (is("plain")) middle(burns, 0);
  if (is("red_zone")) middle(counts_in_red_zone, kLoops);
  if (is("without_rule")) middle(counts_without_rule, kLoops);
  if (is("made")) middle(made(), kLoops);
  if (is("deep")) middle(recurses, 3000);
  if (is("fiber")) middle(switches, 0);
  if (is("library")) middle(of_library(argv[2]), kLoops);
  if (is("unload")) {
    library = library_of(argv[2]);
    middle(unloads, kLoops);
  }
  // Until a line comes, so that somebody can attach first.
  if (is("waits") && std::getchar() != EOF) middle(burns, 0);
  asm volatile("");
  return 0;
}
