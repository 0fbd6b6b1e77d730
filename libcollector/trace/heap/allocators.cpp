// Traced: what allocators have besides the functions of libc: jemalloc's own calls, tcmalloc's,
// mimalloc's and those of oneTBB. Where such a function has the address of one of libc's, that is
// traced. Normal context.
#include "libcollector/trace/heap/heap_calls.h"

namespace gnomon::collector {
namespace {

using Bytes = std::size_t;

// size: what is asked for, by the parameters. The rest: the arguments.
#define GNOMON_GIVES(bind, name, size_asked, parameters, ...)           \
  constinit NextSymbol<void*(*)parameters> real_##name{#name};          \
  void* traced_##name parameters {                                      \
    return traced_allocation(GNOMON_OWN_CALL(), size_asked,             \
                             [&] { return real_##name(__VA_ARGS__); }); \
  }                                                                     \
  bind(name)
#define GNOMON_RESIZES(bind, name, size_asked, frees_if_failed, parameters, ...)       \
  constinit NextSymbol<void*(*)parameters> real_##name{#name};                         \
  void* traced_##name parameters {                                                     \
    return traced_reallocation(GNOMON_OWN_CALL(), memory, size_asked, frees_if_failed, \
                               [&] { return real_##name(__VA_ARGS__); });              \
  }                                                                                    \
  bind(name)
#define GNOMON_TAKES(bind, name, parameters, ...)                              \
  constinit NextSymbol<void(*) parameters> real_##name{#name};                 \
  void traced_##name parameters {                                              \
    traced_free(GNOMON_OWN_CALL(), memory, [&] { real_##name(__VA_ARGS__); }); \
  }                                                                            \
  bind(name)
#define GNOMON_GIVES_BY_POINTER(bind, name)                               \
  constinit NextSymbol<int (*)(void**, Bytes, Bytes)> real_##name{#name}; \
  int traced_##name(void** memory, Bytes alignment, Bytes size) {         \
    const HeapCall heap(GNOMON_OWN_CALL());                               \
    const int error = real_##name(memory, alignment, size);               \
    if (error == 0) heap.allocated(*memory, size);                        \
    return error;                                                         \
  }                                                                       \
  bind(name)

// Of an allocator that replaces malloc.
#define GNOMON_OF_MALLOC(name) \
  GNOMON_TRACED_BESIDE(HookGroup::heap, traced_##name, real_##name, real_malloc)

// jemalloc(3), "Non-standard API".
GNOMON_GIVES(GNOMON_OF_MALLOC, mallocx, size, (Bytes size, int flags), size, flags);
GNOMON_RESIZES(GNOMON_OF_MALLOC, rallocx, size, false, (void* memory, Bytes size, int flags),
               memory, size, flags);
GNOMON_TAKES(GNOMON_OF_MALLOC, dallocx, (void* memory, int flags), memory, flags);
GNOMON_TAKES(GNOMON_OF_MALLOC, sdallocx, (void* memory, Bytes size, int flags), memory, size,
             flags);

// In place; returns the size that the block has then.
constinit NextSymbol<Bytes (*)(void*, Bytes, Bytes, int)> real_xallocx{"xallocx"};
Bytes traced_xallocx(void* memory, Bytes size, Bytes extra, int flags) {
  const HeapCall heap(GNOMON_OWN_CALL());
  const bool was_noted = heap.frees(memory);
  const Bytes now = real_xallocx(memory, size, extra, flags);
  if (now >= size)
    heap.allocated(memory, size);
  else if (was_noted)
    heap.keeps(memory);
  return now;
}
GNOMON_OF_MALLOC(xallocx);

// gperftools/tcmalloc.h; the others have the addresses of libc's.
GNOMON_GIVES(GNOMON_OF_MALLOC, tc_malloc_skip_new_handler, size, (Bytes size), size);

// mimalloc.h. heap: a mi_heap_t.
using Heap = void*;
#define GNOMON_MI_GIVES(name, size_asked, parameters, ...) \
  GNOMON_GIVES(GNOMON_OF_MALLOC, name, size_asked, parameters, __VA_ARGS__)
#define GNOMON_MI_RESIZES(name, size_asked, parameters, ...) \
  GNOMON_RESIZES(GNOMON_OF_MALLOC, name, size_asked, false, parameters, __VA_ARGS__)
GNOMON_MI_GIVES(mi_malloc, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_zalloc, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_malloc_small, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_zalloc_small, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_valloc, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_pvalloc, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_new, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_new_nothrow, size, (Bytes size), size);
GNOMON_MI_GIVES(mi_calloc, count* size, (Bytes count, Bytes size), count, size);
GNOMON_MI_GIVES(mi_mallocn, count* size, (Bytes count, Bytes size), count, size);
GNOMON_MI_GIVES(mi_new_n, count* size, (Bytes count, Bytes size), count, size);
GNOMON_MI_GIVES(mi_memalign, size, (Bytes alignment, Bytes size), alignment, size);
GNOMON_MI_GIVES(mi_aligned_alloc, size, (Bytes alignment, Bytes size), alignment, size);
GNOMON_MI_GIVES(mi_malloc_aligned, size, (Bytes size, Bytes alignment), size, alignment);
GNOMON_MI_GIVES(mi_zalloc_aligned, size, (Bytes size, Bytes alignment), size, alignment);
GNOMON_MI_GIVES(mi_new_aligned, size, (Bytes size, Bytes alignment), size, alignment);
GNOMON_MI_GIVES(mi_new_aligned_nothrow, size, (Bytes size, Bytes alignment), size, alignment);
GNOMON_MI_GIVES(mi_malloc_aligned_at, size, (Bytes size, Bytes alignment, Bytes offset), size,
                alignment, offset);
GNOMON_MI_GIVES(mi_zalloc_aligned_at, size, (Bytes size, Bytes alignment, Bytes offset), size,
                alignment, offset);
GNOMON_MI_GIVES(mi_calloc_aligned, count* size, (Bytes count, Bytes size, Bytes alignment), count,
                size, alignment);
GNOMON_MI_GIVES(mi_calloc_aligned_at, count* size,
                (Bytes count, Bytes size, Bytes alignment, Bytes offset), count, size, alignment,
                offset);
GNOMON_MI_GIVES(mi_heap_malloc, size, (Heap heap, Bytes size), heap, size);
GNOMON_MI_GIVES(mi_heap_zalloc, size, (Heap heap, Bytes size), heap, size);
GNOMON_MI_GIVES(mi_heap_malloc_small, size, (Heap heap, Bytes size), heap, size);
GNOMON_MI_GIVES(mi_heap_alloc_new, size, (Heap heap, Bytes size), heap, size);
GNOMON_MI_GIVES(mi_heap_calloc, count* size, (Heap heap, Bytes count, Bytes size), heap, count,
                size);
GNOMON_MI_GIVES(mi_heap_mallocn, count* size, (Heap heap, Bytes count, Bytes size), heap, count,
                size);
GNOMON_MI_GIVES(mi_heap_alloc_new_n, count* size, (Heap heap, Bytes count, Bytes size), heap, count,
                size);
GNOMON_MI_GIVES(mi_heap_malloc_aligned, size, (Heap heap, Bytes size, Bytes alignment), heap, size,
                alignment);
GNOMON_MI_GIVES(mi_heap_zalloc_aligned, size, (Heap heap, Bytes size, Bytes alignment), heap, size,
                alignment);
GNOMON_MI_GIVES(mi_heap_calloc_aligned, count* size,
                (Heap heap, Bytes count, Bytes size, Bytes alignment), heap, count, size,
                alignment);
GNOMON_MI_GIVES(mi_heap_malloc_aligned_at, size,
                (Heap heap, Bytes size, Bytes alignment, Bytes offset), heap, size, alignment,
                offset);
GNOMON_MI_GIVES(mi_heap_zalloc_aligned_at, size,
                (Heap heap, Bytes size, Bytes alignment, Bytes offset), heap, size, alignment,
                offset);
GNOMON_MI_GIVES(mi_heap_calloc_aligned_at, count* size,
                (Heap heap, Bytes count, Bytes size, Bytes alignment, Bytes offset), heap, count,
                size, alignment, offset);
GNOMON_MI_RESIZES(mi_realloc, size, (void* memory, Bytes size), memory, size);
GNOMON_RESIZES(GNOMON_OF_MALLOC, mi_reallocf, size, true, (void* memory, Bytes size), memory, size);
GNOMON_MI_RESIZES(mi_rezalloc, size, (void* memory, Bytes size), memory, size);
GNOMON_MI_RESIZES(mi_new_realloc, size, (void* memory, Bytes size), memory, size);
GNOMON_MI_RESIZES(mi_expand, size, (void* memory, Bytes size), memory, size);
GNOMON_MI_RESIZES(mi_reallocn, count* size, (void* memory, Bytes count, Bytes size), memory, count,
                  size);
GNOMON_MI_RESIZES(mi_recalloc, count* size, (void* memory, Bytes count, Bytes size), memory, count,
                  size);
GNOMON_MI_RESIZES(mi_reallocarray, count* size, (void* memory, Bytes count, Bytes size), memory,
                  count, size);
GNOMON_MI_RESIZES(mi_new_reallocn, count* size, (void* memory, Bytes count, Bytes size), memory,
                  count, size);
GNOMON_MI_RESIZES(mi_realloc_aligned, size, (void* memory, Bytes size, Bytes alignment), memory,
                  size, alignment);
GNOMON_MI_RESIZES(mi_rezalloc_aligned, size, (void* memory, Bytes size, Bytes alignment), memory,
                  size, alignment);
GNOMON_MI_RESIZES(mi_heap_realloc, size, (Heap heap, void* memory, Bytes size), heap, memory, size);
GNOMON_RESIZES(GNOMON_OF_MALLOC, mi_heap_reallocf, size, true,
               (Heap heap, void* memory, Bytes size), heap, memory, size);
GNOMON_MI_RESIZES(mi_heap_rezalloc, size, (Heap heap, void* memory, Bytes size), heap, memory,
                  size);
GNOMON_MI_RESIZES(mi_heap_reallocn, count* size, (Heap heap, void* memory, Bytes count, Bytes size),
                  heap, memory, count, size);
GNOMON_MI_RESIZES(mi_heap_recalloc, count* size, (Heap heap, void* memory, Bytes count, Bytes size),
                  heap, memory, count, size);
GNOMON_GIVES_BY_POINTER(GNOMON_OF_MALLOC, mi_posix_memalign);
GNOMON_TAKES(GNOMON_OF_MALLOC, mi_free, (void* memory), memory);
GNOMON_TAKES(GNOMON_OF_MALLOC, mi_cfree, (void* memory), memory);
GNOMON_TAKES(GNOMON_OF_MALLOC, mi_free_size, (void* memory, Bytes size), memory, size);
GNOMON_TAKES(GNOMON_OF_MALLOC, mi_free_aligned, (void* memory, Bytes alignment), memory, alignment);
GNOMON_TAKES(GNOMON_OF_MALLOC, mi_free_size_aligned, (void* memory, Bytes size, Bytes alignment),
             memory, size, alignment);

// oneapi/tbb/scalable_allocator.h: an allocator that may stand beside libc's.
#define GNOMON_BY_ITSELF(name) GNOMON_TRACED(HookGroup::heap, traced_##name, real_##name)
GNOMON_GIVES(GNOMON_BY_ITSELF, scalable_malloc, size, (Bytes size), size);
GNOMON_GIVES(GNOMON_BY_ITSELF, scalable_calloc, count* size, (Bytes count, Bytes size), count,
             size);
GNOMON_GIVES(GNOMON_BY_ITSELF, scalable_aligned_malloc, size, (Bytes size, Bytes alignment), size,
             alignment);
GNOMON_GIVES_BY_POINTER(GNOMON_BY_ITSELF, scalable_posix_memalign);
GNOMON_RESIZES(GNOMON_BY_ITSELF, scalable_realloc, size, size == 0, (void* memory, Bytes size),
               memory, size);
GNOMON_RESIZES(GNOMON_BY_ITSELF, scalable_aligned_realloc, size, size == 0,
               (void* memory, Bytes size, Bytes alignment), memory, size, alignment);
GNOMON_TAKES(GNOMON_BY_ITSELF, scalable_free, (void* memory), memory);
GNOMON_TAKES(GNOMON_BY_ITSELF, scalable_aligned_free, (void* memory), memory);

}  // namespace
}  // namespace gnomon::collector
