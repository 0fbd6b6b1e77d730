// Traced: the C library's allocator, or the one that a library puts in its place. Normal context,
// also in signal handlers of programs that allocate there.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>

#include "libcollector/hook/hook.h"
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
  if (!memory) return nullptr;
  if (TracedCall traced(call); traced) {
    const std::uint64_t time = time_after();
    format::HeapAllocation record{};
    record.stack = traced.stack();
    record.size = size;
    if (record.stack != 0)
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

// Before the call: the block may be another thread's before that returns.
void note_free(const Call& call, const void* memory) {
  if (memory) note<format::kHeapFree>(call, memory, has_free_stacks());
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
  note_free(call, memory);
  void* const fresh = real_realloc(memory, size);
  if (!fresh && memory && size != 0) note<format::kHeapKept>(call, memory, false);
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
