// Code that is copied into a running process. gate_enter runs in a thread that was borrowed at a
// place where it waited, on a stack of ours, and leaves it as it was; gate_helper in the thread it
// makes, with all signals blocked. Position-independent; the three words at the end are filled in.
#include "injector/attach/gate/gate_offsets.h"

  .intel_syntax noprefix
  .section .rodata
  .balign 16
  .globl gate_code, gate_stay, gate_helper, gate_words, gate_end
  .hidden gate_code, gate_stay, gate_helper, gate_words, gate_end

// The red zone below the borrowed thread's stack pointer is not touched: rsp is ours already.
gate_code:
  pushfq
  and qword ptr [rsp], GATE_WITHOUT_TRAP_FLAG
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
  cmp qword ptr [r12 + GATE_MASKED], 0
  jne 1f
  // rt_sigprocmask(SIG_SETMASK, &all, &mask, 8): the new thread inherits it.
  mov eax, 14
  mov edi, 2
  lea rsi, [r12 + GATE_ALL_SIGNALS]
  lea rdx, [r12 + GATE_MASK]
  mov r10d, 8
  syscall
1:
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
  mov eax, 127  // rt_sigpending(&pending, 8)
  lea rdi, [r12 + GATE_PENDING]
  mov esi, 8
  syscall
  mov rax, [r12 + GATE_MASK]
  not rax
  and rax, [r12 + GATE_PENDING]
  and rax, [r12 + GATE_CAUGHT]
  // A tick that has come by now runs its handler here, where it cannot see that a wait goes on.
  cmp qword ptr [r12 + GATE_RESTART], 0
  je 9f
  cmp rax, GATE_SIGPROF
  jne 9f
  mov rax, [r12 + GATE_RESTART]
  mov [rsp + GATE_PUSHED_RAX], rax
9:
  // rt_sigreturn ends a wait that restart_syscall is to resume, which only a handler may.
  test rax, rax
  jnz 9f
  cmp qword ptr [rsp + GATE_PUSHED_RAX], GATE_RESTART_SYSCALL
  je 1f
9:
  // In code without unwind information a handler could not be left by an exception, as cancellation
  // is: the kernel unblocks signals where the thread was, if it can.
  cmp qword ptr [r12 + GATE_TURNS], 1
  jne 1f
  mov rbx, [r12 + GATE_STATE_BYTES]
  test rbx, rbx
  jz 1f
  xor eax, eax
  rdsspq rax
  test rax, rax
  jnz 1f
  test dword ptr [r12 + GATE_FEATURES], STATE_TILES
  jz 2f
  mov ecx, 1
  xgetbv
  test eax, STATE_TILES
  jnz 1f
2:
  mov dword ptr [r12 + GATE_EXTENDED + SOFTWARE_MAGIC], STATE_MAGIC1
  mov [r12 + GATE_EXTENDED + SOFTWARE_STATE_BYTES], ebx
  mov dword ptr [r12 + rbx + GATE_EXTENDED], STATE_MAGIC2
  add ebx, 4
  mov [r12 + GATE_EXTENDED + SOFTWARE_EXTENDED_BYTES], ebx
  mov rax, [r12 + GATE_FEATURES]
  and rax, ~STATE_TILES
  mov [r12 + GATE_EXTENDED + SOFTWARE_FEATURES], rax
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R15]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R14]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R13]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R12]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R11]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R10]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R9]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_R8]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RBP]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RDI]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RSI]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RDX]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RCX]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RBX]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_RAX]
  pop qword ptr [r12 + GATE_CONTEXT + CONTEXT_FLAGS]
  .irp word, 0, 8, 16
  mov rax, [r12 + GATE_ALTERNATE + \word]
  mov [r12 + GATE_CONTEXT + CONTEXT_STACK + \word], rax
  .endr
  mov rax, [r12 + GATE_MASK]
  mov [r12 + GATE_CONTEXT + CONTEXT_MASK], rax
  mov qword ptr [r12 + GATE_LEFT], 1
  lea rsp, [r12 + GATE_CONTEXT]
  mov eax, 15  // rt_sigreturn
  syscall
1:
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
  and qword ptr [rsp], GATE_WITHOUT_TRAP_FLAG
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
  push rbp
  sub rsp, 8
  mov rbx, rdi
  mov eax, 186  // gettid
  syscall
  mov [rbx + GATE_HELPER_TID], rax
  mov qword ptr [rbx + GATE_STEP], STEP_RUNS
  mov rdi, fs:[0x10]  // pthread_self
  call [rbx + GATE_DETACH]
  // The library is there already.
  cmp qword ptr [rbx + GATE_FUNCTION], 0
  jne 7f
  lea rbp, [rbx + GATE_LIBRARY]
  cmp qword ptr [rbx + GATE_TAKING], TAKING_WANTED
  jne 3f
  call gate_take
  test rbp, rbp
  jz 4f
3:
  mov rdi, rbp
  mov esi, 0x1002  // RTLD_NOW | RTLD_NODELETE
  call [rbx + GATE_OPEN]
  mov [rbx + GATE_HANDLE], rax
  mov edi, [rbx + GATE_HANDED]
  call gate_close
  cmp qword ptr [rbx + GATE_HANDLE], 0
  je 1f
  mov qword ptr [rbx + GATE_STEP], STEP_LOADED
  mov rdi, [rbx + GATE_HANDLE]
  lea rsi, [rbx + GATE_NAME]
  call [rbx + GATE_FIND]
  mov [rbx + GATE_FUNCTION], rax
  test rax, rax
  jz 1f
7:
  // The borrowed thread blocks every signal until it has left, and would count as one that does.
  mov ebp, GATE_YIELDS + GATE_NAPS
5:
  cmp qword ptr [rbx + GATE_LEFT], 0
  jne 6f
  mov eax, 24  // sched_yield
  cmp ebp, GATE_NAPS
  ja 8f
  mov eax, 35  // nanosleep(&nap, nullptr)
  lea rdi, [rip + gate_nap]
  xor esi, esi
8:
  syscall
  dec ebp
  jnz 5b
6:
  mov rax, [rbx + GATE_FUNCTION]
  mov qword ptr [rbx + GATE_STEP], STEP_CALLED
  lea rdi, [rbx + GATE_REQUEST]
  call rax
  mov [rbx + GATE_ANSWER], rax
  jmp 4f
1:
  mov edi, [rbx + GATE_HANDED + 4]
  call gate_close
  // The text ends with this thread: it is copied.
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
  add rsp, 8
  pop rbp
  pop rbx
  ret

// The descriptors of the library and of the experiment's directory come from the injector. rbp: a
// path of the library by its own; 0: they do not come.
gate_take:
  xor ebp, ebp
  // socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)
  mov eax, 53
  mov edi, 1
  mov esi, 0x80001
  xor edx, edx
  lea r10, [rbx + GATE_PAIR]
  syscall
  test eax, eax
  js 2f
  mov eax, [rbx + GATE_PAIR]
  mov [rbx + GATE_AWAITED], eax
  mov qword ptr [rbx + GATE_TAKING], TAKING_WAITS
  mov eax, 7  // poll
  lea rdi, [rbx + GATE_AWAITED]
  mov esi, 1
  mov edx, 4000
  syscall
  mov eax, 47  // recvmsg
  mov edi, [rbx + GATE_PAIR]
  lea rsi, [rbx + GATE_MESSAGE]
  mov edx, 0x40000040  // MSG_CMSG_CLOEXEC | MSG_DONTWAIT
  syscall
  movsxd rax, eax
  mov [rbx + GATE_RECEIVED], rax
  lea rdi, [rbx + GATE_PAIR]
  call gate_close_both
  mov rax, [rbx + GATE_RECEIVED]
  test rax, rax
  js 2f
  mov eax, -24  // EMFILE
  cmp qword ptr [rbx + GATE_CONTROL_LENGTH], GATE_HANDED_BYTES
  jne 3f
  // "/proc/self/fd/N", from its end.
  lea rbp, [rbx + GATE_PATH + GATE_PATH_BYTES - 1]
  mov byte ptr [rbp], 0
  mov eax, [rbx + GATE_HANDED]
  mov ecx, 10
9:
  xor edx, edx
  div ecx
  add edx, 48
  dec rbp
  mov [rbp], dl
  test eax, eax
  jnz 9b
  sub rbp, 14
  movabs rax, 0x65732f636f72702f
  mov [rbp], rax
  mov dword ptr [rbp + 8], 0x662f666c
  mov word ptr [rbp + 12], 0x2f64
  mov eax, [rbx + GATE_HANDED + 4]
  mov [rbx + GATE_DIRECTORY], eax
  mov qword ptr [rbx + GATE_TAKING], TAKING_DONE
  ret
3:
  mov [rbx + GATE_RECEIVED], rax
  lea rdi, [rbx + GATE_HANDED]
  call gate_close_both
  mov eax, [rbx + GATE_RECEIVED]
2:
  movsxd rax, eax
  mov [rbx + GATE_TAKING], rax
  ret

// Two descriptors at rdi.
gate_close_both:
  push rdi
  mov edi, [rdi]
  call gate_close
  pop rdi
  mov edi, [rdi + 4]
// Nothing for one below 0.
gate_close:
  test edi, edi
  js 9f
  mov eax, 3
  syscall
9:
  ret

  .balign 8
gate_nap:  // a timespec
  .quad 0
  .quad 100000
gate_words:  // address of the Gate; the borrowed thread's stack pointer; where it goes on
  .quad 0
  .quad 0
  .quad 0
gate_end:

  .section .note.GNU-stack, "", @progbits
