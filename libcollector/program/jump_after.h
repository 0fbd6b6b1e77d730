// The body of a naked function that stands in for another one. Any context that the call allows.
#pragma once

// Calls `before`, and jumps to the function that it returns, with the arguments of the call. A jump
// leaves the caller's stack as it is, so that a call that returns twice (vfork) or on another stack
// (clone) finds it unchanged, and no frame of the collector's stands on it. given, changed:
// instructions in front of the call of `before` and behind it.
#define GNOMON_JUMP(given, before, changed)                 \
  asm("endbr64\n"                                           \
      ".irp word, %rdi, %rsi, %rdx, %rcx, %r8, %r9, %rax\n" \
      "push \\word\n"                                       \
      ".cfi_adjust_cfa_offset 8\n"                          \
      ".endr\n" given "call " before "\n" changed           \
      "mov %rax, %r11\n"                                    \
      ".irp word, %rax, %r9, %r8, %rcx, %rdx, %rsi, %rdi\n" \
      "pop \\word\n"                                        \
      ".cfi_adjust_cfa_offset -8\n"                         \
      ".endr\n"                                             \
      "jmp *%r11\n")

// `before` has the call's arguments.
#define GNOMON_JUMP_AFTER(before) GNOMON_JUMP("", before, "")
// `before` has the return address as its fourth argument.
#define GNOMON_WITH_RETURN "mov 56(%rsp), %rcx\n"
// `before` returns a pair, whose second word becomes the first argument.
#define GNOMON_OTHER_ARGUMENT "mov %rdx, 48(%rsp)\n"
