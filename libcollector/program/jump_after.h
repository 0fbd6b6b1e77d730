// The body of a naked function that stands in for another one. Any context that the call allows.
#pragma once

// Calls `before` with the arguments of the call, and jumps to the function that it returns, with
// the same arguments. A jump leaves the caller's stack as it is, so that a call that returns twice
// (vfork) or on another stack (clone) finds it unchanged.
#define GNOMON_JUMP_AFTER(before)                           \
  asm("endbr64\n"                                           \
      ".irp word, %rdi, %rsi, %rdx, %rcx, %r8, %r9, %rax\n" \
      "push \\word\n"                                       \
      ".cfi_adjust_cfa_offset 8\n"                          \
      ".endr\n"                                             \
      "call " before                                        \
      "\n"                                                  \
      "mov %rax, %r11\n"                                    \
      ".irp word, %rax, %r9, %r8, %rcx, %rdx, %rsi, %rdi\n" \
      "pop \\word\n"                                        \
      ".cfi_adjust_cfa_offset -8\n"                         \
      ".endr\n"                                             \
      "jmp *%r11\n")
