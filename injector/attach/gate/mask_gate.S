// Code that is copied into a process a debugger holds stopped: a thread that is sent there takes
// SIGPROF out of its mask, or puts it there, and is where it was. Position-independent but for the
// address at its beginning; the words at the end are filled in.
#include "injector/attach/gate/gate_offsets.h"

  .intel_syntax noprefix
  .section .rodata
  .balign 16
  .globl mask_gate_code, mask_gate_stay, mask_gate_words, mask_gate_end
  .hidden mask_gate_code, mask_gate_stay, mask_gate_words, mask_gate_end

// On the thread's own stack, of which the red zone is not touched. Flags as SAHF and an overflow
// give them.
mask_gate_code:
  movabs [0x7fffffffffffffff], rax  // MASK_GATE_ADDRESS: of the block
  mov rax, [rip + mask_gate_words]
  mov [rax + MASK_GATE_RCX], rcx
  mov rcx, rax
  lahf
  seto al
  mov [rcx + MASK_GATE_FLAGS], rax
  mov [rcx + MASK_GATE_RDX], rdx
  mov [rcx + MASK_GATE_RSI], rsi
  mov [rcx + MASK_GATE_RDI], rdi
  mov [rcx + MASK_GATE_R10], r10
  mov [rcx + MASK_GATE_R11], r11
  // rt_sigprocmask(change, &set, &before, 8)
  mov eax, 14
  mov edi, [rcx + MASK_GATE_CHANGE]
  lea rsi, [rcx + MASK_GATE_SET]
  lea rdx, [rcx + MASK_GATE_BEFORE]
  mov r10d, 8
  syscall
  mov rcx, [rip + mask_gate_words]
  test dword ptr [rcx + MASK_GATE_BEFORE], GATE_SIGPROF
  jnz 1f
  mov rax, [rip + mask_gate_words + 8]
  mov dword ptr [rax], 0
1:
  mov rdx, [rcx + MASK_GATE_RDX]
  mov rsi, [rcx + MASK_GATE_RSI]
  mov rdi, [rcx + MASK_GATE_RDI]
  mov r10, [rcx + MASK_GATE_R10]
  mov r11, [rcx + MASK_GATE_R11]
  mov rax, [rcx + MASK_GATE_FLAGS]
  add al, 0x7f
  sahf
  mov rax, [rcx]
  mov rcx, [rcx + MASK_GATE_RCX]
// One that must not get on stays here until it is taken away, or its turns are over.
mask_gate_stay:
  lea rsp, [rsp - 256]
  pushfq
  and qword ptr [rsp], GATE_WITHOUT_TRAP_FLAG
  push rax
  mov rax, [rip + mask_gate_words]
2:
  pause
  dec qword ptr [rax + MASK_GATE_TURNS]
  jg 2b
  pop rax
  popfq
  lea rsp, [rsp + 256]
  jmp [rip + mask_gate_words + 16]

  .balign 8
mask_gate_words:  // the block; the word that says what the program believes; where it goes on
  .quad 0
  .quad 0
  .quad 0
mask_gate_end:

  .section .note.GNU-stack, "", @progbits
