// Records calls of malloc, free and their like, of libc or of a library that replaces them. Normal
// context, also in signal handlers of programs that allocate there.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>

#include "libcollector/hook/hook.h"
#include "libcollector/trace/heap_sampling.h"
#include "libcollector/trace/trace.h"

namespace gnomon::collector {
namespace {

constinit NextSymbol<void* (*)(std::size_t)> real_malloc{"malloc"};
constinit NextSymbol<void (*)(void*)> real_free{"free"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_calloc{"calloc"};
constinit NextSymbol<void* (*)(void*, std::size_t)> real_realloc{"realloc"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_memalign{"memalign"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_aligned_alloc{"aligned_alloc"};
constinit NextSymbol<int (*)(void**, std::size_t, std::size_t)> real_posix_memalign{
    "posix_memalign"};
constinit NextSymbol<void* (*)(std::size_t)> real_valloc{"valloc"};
constinit NextSymbol<void* (*)(std::size_t)> real_pvalloc{"pvalloc"};

std::uint64_t number(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

// After the call: another thread that gets the block later has a later time.
void* note_allocation(const Call& call, void* memory, std::size_t size) {
  if (!memory || !takes_allocation(size)) return memory;
  if (TracedCall traced(call); traced && !traced.takes_frees_only()) {
    const std::uint64_t time = time_after();
    format::HeapAllocation record{};
    record.stack = traced.stack();
    record.size = size;
    if (record.stack != 0 && keeps_sampled(number(memory)))
      traced.put_compact<format::kHeapAllocation>(time, number(memory), record);
  }
  return memory;
}

template <std::uint8_t Kind>
void note(const Call& call, const void* memory, bool has_stack) {
  TracedCall traced(call);
  if (!traced) return;
  const std::uint64_t time = time_before();
  format::HeapFree record{};
  if (has_stack) record.stack = traced.stack();
  traced.put_compact<Kind>(time, number(memory), record);
}

// Before the call: the block may be another thread's before that returns. Returns true if the
// block's allocation was to be recorded.
bool note_free(const Call& call, const void* memory) {
  if (!memory || !takes_free(number(memory))) return false;
  note<format::kHeapFree>(call, memory, has_free_stacks());
  return true;
}

void* traced_malloc(std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_malloc(size), size);
}

void traced_free(void* memory) {
  note_free(GNOMON_OWN_CALL(), memory);
  real_free(memory);
}

void* traced_calloc(std::size_t count, std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_calloc(count, size), count * size);
}

// Gives the block back and gets another one, which may be the same.
void* traced_realloc(void* memory, std::size_t size) {
  const Call call = GNOMON_OWN_CALL();
  const bool was_noted = note_free(call, memory);
  void* const fresh = real_realloc(memory, size);
  if (!fresh && was_noted && size != 0 && keeps_sampled(number(memory)))
    note<format::kHeapKept>(call, memory, false);
  return note_allocation(call, fresh, size);
}

void* traced_memalign(std::size_t alignment, std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_memalign(alignment, size), size);
}

void* traced_aligned_alloc(std::size_t alignment, std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_aligned_alloc(alignment, size), size);
}

int traced_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  const int error = real_posix_memalign(memory, alignment, size);
  if (error == 0) note_allocation(GNOMON_OWN_CALL(), *memory, size);
  return error;
}

void* traced_valloc(std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_valloc(size), size);
}

void* traced_pvalloc(std::size_t size) {
  return note_allocation(GNOMON_OWN_CALL(), real_pvalloc(size), size);
}

// C++ operators of an allocator that has them reach no other function of it. Those of libstdc++
// call malloc, which is traced.
template <auto& Real, typename... More>
void* traced_new(std::size_t size, More... more) {
  return note_allocation(GNOMON_OWN_CALL(), Real(size, more...), size);
}

template <auto& Real, typename... More>
void traced_delete(void* memory, More... more) {
  note_free(GNOMON_OWN_CALL(), memory);
  Real(memory, more...);
}

using Alignment = std::size_t;  // std::align_val_t, as it is passed
using Nothrow = const void*;    // const std::nothrow_t&, likewise
#define GNOMON_NEW(name, symbol, ...)                                                          \
  constinit NextSymbol<void* (*)(std::size_t __VA_OPT__(, ) __VA_ARGS__)> real_##name{symbol}; \
  constexpr auto* traced_##name = traced_new<real_##name __VA_OPT__(, ) __VA_ARGS__>;          \
  GNOMON_TRACED_BESIDE(Family::heap, traced_##name, real_##name, real_malloc)
#define GNOMON_DELETE(name, symbol, ...)                                                 \
  constinit NextSymbol<void (*)(void* __VA_OPT__(, ) __VA_ARGS__)> real_##name{symbol};  \
  constexpr auto* traced_##name = traced_delete<real_##name __VA_OPT__(, ) __VA_ARGS__>; \
  GNOMON_TRACED_BESIDE(Family::heap, traced_##name, real_##name, real_malloc)

GNOMON_NEW(new_one, "_Znwm");
GNOMON_NEW(new_array, "_Znam");
GNOMON_NEW(new_one_nothrow, "_ZnwmRKSt9nothrow_t", Nothrow);
GNOMON_NEW(new_array_nothrow, "_ZnamRKSt9nothrow_t", Nothrow);
GNOMON_NEW(new_one_aligned, "_ZnwmSt11align_val_t", Alignment);
GNOMON_NEW(new_array_aligned, "_ZnamSt11align_val_t", Alignment);
GNOMON_NEW(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t", Alignment, Nothrow);
GNOMON_NEW(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t", Alignment, Nothrow);
GNOMON_DELETE(delete_one, "_ZdlPv");
GNOMON_DELETE(delete_array, "_ZdaPv");
GNOMON_DELETE(delete_one_sized, "_ZdlPvm", std::size_t);
GNOMON_DELETE(delete_array_sized, "_ZdaPvm", std::size_t);
GNOMON_DELETE(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", Nothrow);
GNOMON_DELETE(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", Nothrow);
GNOMON_DELETE(delete_one_aligned, "_ZdlPvSt11align_val_t", Alignment);
GNOMON_DELETE(delete_array_aligned, "_ZdaPvSt11align_val_t", Alignment);
GNOMON_DELETE(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t", std::size_t, Alignment);
GNOMON_DELETE(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t", std::size_t, Alignment);
GNOMON_DELETE(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t", Alignment,
              Nothrow);
GNOMON_DELETE(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t", Alignment,
              Nothrow);

GNOMON_TRACED(Family::heap, traced_malloc, real_malloc);
GNOMON_TRACED(Family::heap, traced_free, real_free);
GNOMON_TRACED(Family::heap, traced_calloc, real_calloc);
GNOMON_TRACED(Family::heap, traced_realloc, real_realloc);
GNOMON_TRACED(Family::heap, traced_aligned_alloc, real_aligned_alloc);
GNOMON_TRACED(Family::heap, traced_memalign, real_memalign);
GNOMON_TRACED(Family::heap, traced_posix_memalign, real_posix_memalign);
GNOMON_TRACED(Family::heap, traced_valloc, real_valloc);
GNOMON_TRACED(Family::heap, traced_pvalloc, real_pvalloc);

}  // namespace
}  // namespace gnomon::collector
