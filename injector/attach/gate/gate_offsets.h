// Offsets in struct Gate and in struct MaskGate, for assembly code. In the target process.
#pragma once

// In a thread that a debugger steps, `pushfq` stores the trap flag as well; restoring it would end
// the process.
#define GATE_WITHOUT_TRAP_FLAG (~0x100)

#define GATE_CREATE 0
#define GATE_DETACH 8
#define GATE_OPEN 16
#define GATE_FIND 24
#define GATE_ERROR 32
#define GATE_HELPER 40
#define GATE_THREAD 48
#define GATE_ALL_SIGNALS 56
#define GATE_MASK 64
#define GATE_CREATED 72
#define GATE_LEFT 80
#define GATE_HELPER_TID 88
#define GATE_HANDLE 96
#define GATE_FUNCTION 104
#define GATE_ANSWER 112
#define GATE_STEP 120
#define GATE_NAME 128
#define GATE_ERROR_TEXT 192
#define GATE_ERROR_BYTES 1024
#define GATE_REQUEST 1216
#define GATE_IN_HANDLER 1288
#define GATE_DIRECTORY 1296
#define GATE_LIBRARY 10048
#define GATE_TURNS 29504
#define GATE_ALTERNATE 29512
#define GATE_TAKING 29536
#define GATE_RECEIVED 29544
#define GATE_PAIR 29552
#define GATE_AWAITED 29560
#define GATE_MESSAGE 29568
#define GATE_PATH 29664
#define GATE_PATH_BYTES 80
#define GATE_RESTART 29744
#define GATE_CAUGHT 29752
#define GATE_PENDING 29760
#define GATE_MASKED 29768
#define GATE_FEATURES 29776
#define GATE_STATE_BYTES 29784
#define GATE_CONTEXT 29792
#define GATE_EXTENDED 30144

// In GATE_MESSAGE.
#define GATE_CONTROL_LENGTH (GATE_MESSAGE + 40)
#define GATE_CONTROL (GATE_MESSAGE + 72)
#define GATE_HANDED (GATE_CONTROL + 16)  // library, directory
#define GATE_HANDED_BYTES 24             // of a control message with both

// Gate::taking, or an errno with its sign changed.
#define TAKING_NOTHING 0
#define TAKING_WANTED 1
#define TAKING_WAITS 2
#define TAKING_DONE 3

// An alternate stack of this size has room for ticks beside handlers.
#define GATE_ROOMY 32768
#define GATE_SIGPROF 0x4000000  // in a mask

// Bytes that the borrowed thread pushes, and the offset of its rax in them.
#define GATE_PUSHED 128
#define GATE_PUSHED_RAX 112
#define GATE_RESTART_SYSCALL 219

// In the kernel's ucontext (asm/ucontext.h, asm/sigcontext.h).
#define CONTEXT_STACK 16
#define CONTEXT_R8 40
#define CONTEXT_R9 48
#define CONTEXT_R10 56
#define CONTEXT_R11 64
#define CONTEXT_R12 72
#define CONTEXT_R13 80
#define CONTEXT_R14 88
#define CONTEXT_R15 96
#define CONTEXT_RDI 104
#define CONTEXT_RSI 112
#define CONTEXT_RBP 120
#define CONTEXT_RBX 128
#define CONTEXT_RDX 136
#define CONTEXT_RAX 144
#define CONTEXT_RCX 152
#define CONTEXT_RSP 160
#define CONTEXT_RIP 168
#define CONTEXT_FLAGS 176
#define CONTEXT_SEGMENTS 184
#define CONTEXT_STATE 224
#define CONTEXT_MASK 296
#define CONTEXT_BYTES 304

// In an XSAVE area, of what a signal frame says of it (struct _fpx_sw_bytes), and behind the area.
#define SOFTWARE_MAGIC 464
#define SOFTWARE_EXTENDED_BYTES 468
#define SOFTWARE_FEATURES 472
#define SOFTWARE_STATE_BYTES 480
#define STATE_MAGIC1 0x46505853
#define STATE_MAGIC2 0x46505845
#define STATE_TILES 0x40000  // AMX, which no signal frame of an ordinary process has

// In struct MaskGate, and in its code.
#define MASK_GATE_FLAGS 8
#define MASK_GATE_RCX 16
#define MASK_GATE_RDX 24
#define MASK_GATE_RSI 32
#define MASK_GATE_RDI 40
#define MASK_GATE_R10 48
#define MASK_GATE_R11 56
#define MASK_GATE_BEFORE 64
#define MASK_GATE_SET 72
#define MASK_GATE_TURNS 80
#define MASK_GATE_CHANGE 88
#define MASK_GATE_ADDRESS 2

// Rounds of waiting for the borrowed thread to leave: about 2 s.
#define GATE_YIELDS 1000
#define GATE_NAPS 10000

// Gate::step.
#define STEP_RUNS 1
#define STEP_LOADED 2
#define STEP_CALLED 3
#define STEP_DONE 4
