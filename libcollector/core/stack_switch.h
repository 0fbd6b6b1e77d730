// Runs a function on another stack, because the program's may be small. Any context.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// Calls run(argument) on the stack that ends at `top` (aligned to 16 bytes).
inline void call_on_stack(char* top, void (*run)(void*), void* argument) {
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[run]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument)
      : [top] "r"(top), [run] "r"(run)
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "cc", "memory");
}

}  // namespace gnomon::collector
