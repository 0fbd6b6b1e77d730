// Traced: liburing's calls that enter the kernel. What they move is not known to them. Normal
// context.
#include "libcollector/hook/hook.h"
#include "libcollector/trace/io/io.h"

namespace gnomon::collector {
namespace {

// They return a number, or errno as a negative one. Pointers are not looked at.
template <typename Signature>
struct OnRing;
template <typename... Arguments>
struct OnRing<int (*)(Arguments...)> {
  template <auto& Real, IoOperation Operation>
  static int traced(Arguments... arguments) {
    const std::uint64_t since = time_before();
    const int result = Real(arguments...);
    IoCall done{Operation, since, time_after()};
    done.error = result < 0 ? -result : 0;
    record_io(GNOMON_OWN_CALL(), done, -1);
    return result;
  }
};

#define GNOMON_OF_RING(operation, name, ...)                                     \
  constinit NextSymbol<int (*)(__VA_ARGS__)> real_##name{#name};                 \
  constexpr auto* traced_##name =                                                \
      OnRing<int (*)(__VA_ARGS__)>::traced<real_##name, IoOperation::operation>; \
  GNOMON_TRACED(HookGroup::io, traced_##name, real_##name)

GNOMON_OF_RING(other, io_uring_submit, void*);
GNOMON_OF_RING(wait, io_uring_submit_and_wait, void*, unsigned);
GNOMON_OF_RING(wait, io_uring_submit_and_wait_timeout, void*, void*, unsigned, void*, void*);
GNOMON_OF_RING(wait, io_uring_wait_cqes, void*, void*, unsigned, void*, void*);
GNOMON_OF_RING(wait, io_uring_wait_cqe_timeout, void*, void*, void*);
GNOMON_OF_RING(wait, __io_uring_get_cqe, void*, void*, unsigned, unsigned, void*);

}  // namespace
}  // namespace gnomon::collector
