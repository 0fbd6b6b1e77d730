// Oracle test of the unwinder: single-steps through code of every shape and at each instruction
// compares the unwinder's call stack with libunwind's and, where they differ, with libgcc's. Any
// difference from both is a failure.
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>

#include "libcollector/unwind/unwinder.h"
#include "tests/unwind/loaded_tables.h"

#define ORACLE_BODIES(row)                                                                         \
  row(plain) row(unoptimised) row(optimised) row(no_plt) row(frame_pointer) row(size) row(vectors) \
      row(async_off)
#define DECLARE(name) \
  namespace name {    \
  void run();         \
  }
ORACLE_BODIES(DECLARE)

extern "C" {
extern const char __start_oracle_root[] __attribute__((visibility("hidden")));  // NOLINT
extern const char __stop_oracle_root[] __attribute__((visibility("hidden")));   // NOLINT
}

namespace {

using namespace gnomon::collector;

constexpr std::uint32_t kMax = 200;
constexpr int kShown = 8;

Unwinder unwinder;
Roots roots;
ByteRange main_stack;
unsigned long steps, deep, frames_total, differences, cut, oracle_cut, misread;

// As Unwinder::walk stores it. False: libunwind did not reach the root.
bool oracle(ucontext_t* context, std::uint64_t* frames, std::uint32_t& count) {
  unw_cursor_t cursor;
  unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME);
  for (count = 0; count < kMax;) {
    unw_word_t pc = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    // libunwind says so of the frame that was interrupted: the one before is the kernel's.
    const bool interrupted = count == 0 || unw_is_signal_frame(&cursor) > 0;
    if (interrupted && count > 1) ++frames[count - 1];
    frames[count++] = interrupted ? pc : pc - 1;
    if (roots.kept.contains(frames[count - 1])) return true;
    if (unw_step(&cursor) <= 0) return false;
  }
  return false;
}

struct Backtrace {
  std::uint64_t* frames;
  std::uint32_t count;
  bool inside, whole;  // inside: beyond the handler's own frames
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* data) {
  auto& to = *static_cast<Backtrace*>(data);
  int interrupted = 0;
  const std::uint64_t pc = _Unwind_GetIPInfo(context, &interrupted);
  if (interrupted && to.inside && to.count > 1) ++to.frames[to.count - 1];
  to.inside = to.inside || interrupted;
  if (!to.inside) return _URC_NO_REASON;
  to.frames[to.count++] = interrupted ? pc : pc - 1;
  to.whole = roots.kept.contains(to.frames[to.count - 1]);
  return to.whole || to.count == kMax ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// libgcc's unwinder, the one that exceptions rely on: it decides where libunwind differs. To be
// called in the signal handler.
bool second_oracle(std::uint64_t* frames, std::uint32_t& count) {
  Backtrace to{frames, 0, false, false};
  _Unwind_Backtrace(on_frame, &to);
  count = to.count;
  return to.whole;
}

// A stack that says it was cut must be true as far as it goes.
bool agrees(const Walked& walked, const std::uint64_t* ours, const std::uint64_t* theirs,
            std::uint32_t count) {
  return (walked.truncated() ? walked.count < count : walked.count == count) &&
         std::memcmp(ours, theirs, walked.count * sizeof *ours) == 0;
}

void print(const char* who, const std::uint64_t* frames, std::uint32_t count, bool whole) {
  std::fprintf(stderr, "  %s, %s:\n", who, whole ? "whole" : "cut");
  for (std::uint32_t i = 0; i < count; ++i) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(frames[i]), &info);
    std::fprintf(stderr, "    %#lx %s+%#lx %s\n", frames[i], info.dli_sname ? info.dli_sname : "?",
                 frames[i] - reinterpret_cast<std::uint64_t>(info.dli_saddr),
                 info.dli_fname ? info.dli_fname : "?");
  }
}

void on_step(int, siginfo_t*, void* data) {
  auto* context = static_cast<ucontext_t*>(data);
  static std::uint64_t ours[kMax], theirs[kMax];
  const auto alternate = reinterpret_cast<std::uint64_t>(context->uc_stack.ss_sp);
  LoadedHold hold;
  const Walked walked =
      unwinder.walk({reinterpret_cast<const std::uint64_t*>(context->uc_mcontext.gregs),
                     {main_stack, {alternate, alternate + context->uc_stack.ss_size}}},
                    ours, kMax, hold);
  std::uint32_t count = 0;
  const bool whole = oracle(context, theirs, count);
  ++steps;
  frames_total += walked.count;
  deep = walked.count > deep ? walked.count : deep;
  cut += walked.truncated();
  oracle_cut += !whole;
  // Where libunwind gives up there is nothing to compare with; a whole stack of ours has proved
  // itself by arriving at the root.
  if (!whole || agrees(walked, ours, theirs, count)) return;
  static std::uint64_t arbiters[kMax];
  std::uint32_t arbiters_count = 0;
  if (second_oracle(arbiters, arbiters_count) && agrees(walked, ours, arbiters, arbiters_count)) {
    ++misread;
    return;
  }
  if (++differences > kShown) return;
  std::fprintf(stderr, "difference at step %lu:\n", steps);
  print("unwinder", ours, walked.count, !walked.truncated());
  print("libunwind", theirs, count, whole);
  print("libgcc", arbiters, arbiters_count, true);
}

[[gnu::section("oracle_root"), gnu::noinline]] void step_through(void (*run)()) {
  asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
  run();
  asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

struct Totals {
  unsigned long steps, differences, cut, oracle_cut, frames_total;
};

void check(const char* name, void (*run)()) {
  const Totals before{steps, differences, cut, oracle_cut, frames_total};
  step_through(run);
  std::printf(
      "%-14s %8lu instructions, %5.1f frames each, %lu differ, %lu cut, libunwind cut %lu\n", name,
      steps - before.steps,
      static_cast<double>(frames_total - before.frames_total) /
          static_cast<double>(steps - before.steps),
      differences - before.differences, cut - before.cut, oracle_cut - before.oracle_cut);
}

}  // namespace

int main(int, char** argv) {
  main_stack.end = reinterpret_cast<std::uint64_t>(argv);
  main_stack.begin = main_stack.end - (8u << 20);
  roots.kept = {reinterpret_cast<std::uint64_t>(__start_oracle_root),
                reinterpret_cast<std::uint64_t>(__stop_oracle_root)};
  if (!unwinder.open(gnomon::tests::find_loaded_table, roots)) return 2;
  struct sigaction action {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  sigaction(SIGTRAP, &action, nullptr);
#define CHECK(name) check(#name, name::run);
  ORACLE_BODIES(CHECK)
  std::printf("%lu instructions, deepest stack %lu frames; libunwind wrong at %lu, says libgcc\n",
              steps, deep, misread);
  if (steps < 100000 || deep < 8)
    return std::fprintf(stderr, "too little was stepped through\n"), 1;
  // libgcc overwrites a return address of its own when it jumps to a handler: nothing can unwind
  // that.
  if (cut * 1000 > steps) return std::fprintf(stderr, "too many cut stacks\n"), 1;
  return differences == 0 ? 0 : 1;
}
