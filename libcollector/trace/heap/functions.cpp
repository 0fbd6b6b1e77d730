// Traced: malloc, free and their like, of libc or of a library that replaces them. Normal context,
// also in signal handlers of programs that allocate there.
#include <malloc.h>
#include <stdlib.h>

#include "libcollector/trace/heap/heap_calls.h"

namespace gnomon::collector {

constinit NextSymbol<void* (*)(std::size_t)> real_malloc{"malloc"};

namespace {

constinit NextSymbol<void (*)(void*)> real_free{"free"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_calloc{"calloc"};
constinit NextSymbol<void* (*)(void*, std::size_t)> real_realloc{"realloc"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_memalign{"memalign"};
constinit NextSymbol<void* (*)(std::size_t, std::size_t)> real_aligned_alloc{"aligned_alloc"};
constinit NextSymbol<int (*)(void**, std::size_t, std::size_t)> real_posix_memalign{
    "posix_memalign"};
constinit NextSymbol<void* (*)(std::size_t)> real_valloc{"valloc"};
constinit NextSymbol<void* (*)(std::size_t)> real_pvalloc{"pvalloc"};

void* traced_malloc(std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), size, [&] { return real_malloc(size); });
}

void traced_free_of_libc(void* memory) {
  traced_free(GNOMON_OWN_CALL(), memory, [&] { real_free(memory); });
}

void* traced_calloc(std::size_t count, std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), count * size,
                           [&] { return real_calloc(count, size); });
}

void* traced_realloc(void* memory, std::size_t size) {
  return traced_reallocation(GNOMON_OWN_CALL(), memory, size, size == 0,
                             [&] { return real_realloc(memory, size); });
}

void* traced_memalign(std::size_t alignment, std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), size, [&] { return real_memalign(alignment, size); });
}

void* traced_aligned_alloc(std::size_t alignment, std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), size,
                           [&] { return real_aligned_alloc(alignment, size); });
}

int traced_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  const HeapCall heap(GNOMON_OWN_CALL());
  const int error = real_posix_memalign(memory, alignment, size);
  if (error == 0) heap.allocated(*memory, size);
  return error;
}

void* traced_valloc(std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), size, [&] { return real_valloc(size); });
}

void* traced_pvalloc(std::size_t size) {
  return traced_allocation(GNOMON_OWN_CALL(), size, [&] { return real_pvalloc(size); });
}

GNOMON_TRACED(HookGroup::heap, traced_malloc, real_malloc);
GNOMON_TRACED(HookGroup::heap, traced_free_of_libc, real_free);
GNOMON_TRACED(HookGroup::heap, traced_calloc, real_calloc);
GNOMON_TRACED(HookGroup::heap, traced_realloc, real_realloc);
GNOMON_TRACED(HookGroup::heap, traced_aligned_alloc, real_aligned_alloc);
GNOMON_TRACED(HookGroup::heap, traced_memalign, real_memalign);
GNOMON_TRACED(HookGroup::heap, traced_posix_memalign, real_posix_memalign);
GNOMON_TRACED(HookGroup::heap, traced_valloc, real_valloc);
GNOMON_TRACED(HookGroup::heap, traced_pvalloc, real_pvalloc);

}  // namespace
}  // namespace gnomon::collector
