// Finds the stacks of threads that existed before the collector. The context stands at each
// function.
#include "libcollector/target/thread_stacks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "libcollector/core/atomic.h"
#include "libcollector/core/mappings.h"
#include "libcollector/core/syscall.h"
#include "libcollector/record/process_identity.h"

namespace gnomon::collector {
namespace {

// The next attach reads into the other one: a thread may be searching the current one.
constinit Mappings tables[2];
constinit std::uint32_t current = 0;
constinit ByteRange borrowed;

}  // namespace

// The kernel maps nothing else within the stack's size limit below its top (mmap_base leaves 128
// MiB or more).
ByteRange main_stack(std::uint64_t top) {
  constexpr std::uint64_t kGap = 128ull << 20;
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return {top - std::min<std::uint64_t>(limit.rlim_cur, kGap), top};
}

// proc_pid_stat(5): (28) startstack, where the kernel put argc.
ByteRange main_stack() {
  const std::uint64_t top = stat_field("/proc/self", 28);
  return top == 0 ? ByteRange{} : main_stack(top);
}

void map_stack_ahead() {
  constexpr std::uint64_t kPage = 4096, kAhead = 64 << 10;
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & ~(kPage - 1);
  raw_syscall(SYS_madvise, static_cast<long>(here - kAhead), kAhead, MADV_POPULATE_READ);
}

void note_borrowed(const ByteRange& memory) { borrowed = memory; }

bool is_on_borrowed() {
  return borrowed.contains(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
}

bool note_mappings() {
  const std::uint32_t next = 1 - atomic(current).load(std::memory_order_relaxed);
  const bool complete = tables[next].read();
  atomic(current).store(next, std::memory_order_release);
  return complete;
}

// glibc puts a thread's descriptor, to which pthread_self points, at the top of its stack; the main
// thread's lies elsewhere.
ByteRange running_stack(const ByteRange& main) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const auto self = static_cast<std::uint64_t>(pthread_self());
  const Mapping found = tables[atomic(current).load(std::memory_order_acquire)].find(self);
  const ByteRange around = found.writable ? found.range : ByteRange{};
  const bool is_main = main.end != 0 && !(around.contains(here) && here < self);
  return is_main ? main : ByteRange{around.begin, around.end == 0 ? 0 : self};
}

}  // namespace gnomon::collector
