// Traced: C++'s operators new and delete of an allocator that has its own. Those of libstdc++ call
// malloc, which is traced. Normal context.
#include "libcollector/trace/heap/heap_calls.h"

namespace gnomon::collector {
namespace {

template <auto& Real, typename... More>
void* traced_new(std::size_t size, More... more) {
  return traced_allocation(GNOMON_OWN_CALL(), size, [&] { return Real(size, more...); });
}

template <auto& Real, typename... More>
void traced_delete(void* memory, More... more) {
  traced_free(GNOMON_OWN_CALL(), memory, [&] { Real(memory, more...); });
}

using Alignment = std::size_t;  // std::align_val_t, as it is passed
using Nothrow = const void*;    // const std::nothrow_t&, likewise
#define GNOMON_NEW(name, symbol, ...)                                                          \
  constinit NextSymbol<void* (*)(std::size_t __VA_OPT__(, ) __VA_ARGS__)> real_##name{symbol}; \
  constexpr auto* traced_##name = traced_new<real_##name __VA_OPT__(, ) __VA_ARGS__>;          \
  GNOMON_TRACED_BESIDE(HookGroup::heap, traced_##name, real_##name, real_malloc)
#define GNOMON_DELETE(name, symbol, ...)                                                 \
  constinit NextSymbol<void (*)(void* __VA_OPT__(, ) __VA_ARGS__)> real_##name{symbol};  \
  constexpr auto* traced_##name = traced_delete<real_##name __VA_OPT__(, ) __VA_ARGS__>; \
  GNOMON_TRACED_BESIDE(HookGroup::heap, traced_##name, real_##name, real_malloc)

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

}  // namespace
}  // namespace gnomon::collector
