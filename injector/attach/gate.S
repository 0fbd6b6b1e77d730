// Code that is copied into a running process. gate_enter runs in a thread that was borrowed at a
// place where it waited, on a stack of ours, and leaves it as it was; gate_helper in the thread it
// makes, with all signals blocked. Position-independent; the three words at the end are filled in.
#include "injector/attach/gate_offsets.h"

  .intel_syntax noprefix
  .section .rodata
  .balign 16
  .globl gate_code, gate_stay, gate_helper, gate_words, gate_end
  .hidden gate_code, gate_stay, gate_helper, gate_words, gate_end

// The red zone below the borrowed thread's stack pointer is not touched: rsp is ours already.
gate_code:
  pushfq
  push rax
  push rbx
  push rcx
  push rdx
  push rsi
  push rdi
  push rbp
  push r8
  push r9
  push r10
  push r11
  push r12
  push r13
  push r14
  push r15
  mov r12, [rip + gate_words]
  // rt_sigprocmask(SIG_SETMASK, &all, &mask, 8): the new thread inherits it.
  mov eax, 14
  mov edi, 2
  lea rsi, [r12 + GATE_ALL_SIGNALS]
  lea rdx, [r12 + GATE_MASK]
  mov r10d, 8
  syscall
  mov eax, -1
  mov edx, -1
  xsave64 [r12 + GATE_EXTENDED]
  cld
  mov rbp, rsp
  and rsp, -16
  lea rdi, [r12 + GATE_THREAD]
  xor esi, esi
  mov rdx, [r12 + GATE_HELPER]
  mov rcx, r12
  call [r12 + GATE_CREATE]
  mov eax, eax  // an int
  mov [r12 + GATE_CREATED], rax
  mov rsp, rbp
  // sigaltstack(nullptr, &alternate)
  mov eax, 131
  xor edi, edi
  lea rsi, [r12 + GATE_ALTERNATE]
  syscall
  mov rax, [rip + gate_words + 8]
  sub rax, [r12 + GATE_ALTERNATE]
  mov rcx, [r12 + GATE_ALTERNATE + 16]
  cmp rax, rcx
  jae 8f
  cmp rcx, GATE_ROOMY
  jae 8f
  // A handler of the program's on a stack without room for a tick beside it: SIGPROF waits until
  // the kernel puts back the mask from before the handler.
  mov eax, 186  // gettid
  syscall
  mov [r12 + GATE_IN_HANDLER], eax
  or dword ptr [r12 + GATE_MASK], GATE_SIGPROF
8:
  mov eax, -1
  mov edx, -1
  xrstor64 [r12 + GATE_EXTENDED]
  mov eax, 14
  mov edi, 2
  lea rsi, [r12 + GATE_MASK]
  xor edx, edx
  mov r10d, 8
  syscall
  mov rax, [r12 + GATE_TURNS]
  mov [rsp + GATE_PUSHED + 8], rax
  mov qword ptr [r12 + GATE_LEFT], 1
  pop r15
  pop r14
  pop r13
  pop r12
  pop r11
  pop r10
  pop r9
  pop r8
  pop rbp
  pop rdi
  pop rsi
  pop rdx
  pop rcx
  pop rbx
  pop rax
  popfq
// All is as it was but for rip, rsp and the flags: a thread that must not get on stays here until
// it is taken away, or its turns are over.
gate_stay:
  pushfq
  pause
  dec qword ptr [rsp + 16]
  jle 7f
  popfq
  jmp gate_stay
7:
  popfq
  mov rsp, [rip + gate_words + 8]
  jmp [rip + gate_words + 16]

  .balign 16
gate_helper:
  push rbx
  mov rbx, rdi
  mov eax, 186  // gettid
  syscall
  mov [rbx + GATE_HELPER_TID], rax
  mov qword ptr [rbx + GATE_STEP], STEP_RUNS
  mov rdi, fs:[0x10]  // pthread_self
  call [rbx + GATE_DETACH]
  lea rdi, [rbx + GATE_LIBRARY]
  mov esi, 0x1002  // RTLD_NOW | RTLD_NODELETE
  call [rbx + GATE_OPEN]
  mov [rbx + GATE_HANDLE], rax
  test rax, rax
  jz 1f
  mov qword ptr [rbx + GATE_STEP], STEP_LOADED
  mov rdi, rax
  lea rsi, [rbx + GATE_NAME]
  call [rbx + GATE_FIND]
  mov [rbx + GATE_FUNCTION], rax
  test rax, rax
  jz 1f
  // The borrowed thread blocks every signal until it has left, and would count as one that does.
  mov r8d, 100000
5:
  cmp qword ptr [rbx + GATE_LEFT], 0
  jne 6f
  mov eax, 24  // sched_yield
  syscall
  dec r8d
  jnz 5b
6:
  mov rax, [rbx + GATE_FUNCTION]
  mov qword ptr [rbx + GATE_STEP], STEP_CALLED
  lea rdi, [rbx + GATE_REQUEST]
  call rax
  mov [rbx + GATE_ANSWER], rax
  jmp 4f
1:  // The text ends with this thread: it is copied.
  call [rbx + GATE_ERROR]
  test rax, rax
  jz 4f
  lea rdi, [rbx + GATE_ERROR_TEXT]
  mov ecx, GATE_ERROR_BYTES - 1
2:
  mov dl, [rax]
  test dl, dl
  jz 4f
  mov [rdi], dl
  inc rax
  inc rdi
  dec ecx
  jnz 2b
4:
  mov qword ptr [rbx + GATE_STEP], STEP_DONE
  xor eax, eax
  pop rbx
  ret

  .balign 8
gate_words:  // address of the Gate; the borrowed thread's stack pointer; where it goes on
  .quad 0
  .quad 0
  .quad 0
gate_end:

  .section .note.GNU-stack, "", @progbits
