// An allocator as a library that may be called at any time, also by signal handlers that interrupt
// it: it never gives the same memory out again before 64 MiB have been.
#include <atomic>
#include <cstddef>
#include <cstring>

namespace {
constexpr std::size_t kBytes = 64 << 20, kLargest = 1 << 20;
alignas(4096) char memory[kBytes + kLargest];
std::atomic<std::size_t> used = 0;

// The size stands before a block.
void* take(std::size_t alignment, std::size_t size) {
  if (size + alignment + 32 > kLargest) return nullptr;
  const std::size_t room = (size + alignment + 32) / 16 * 16;
  const auto begin = reinterpret_cast<std::size_t>(memory) + used.fetch_add(room) % kBytes + 16;
  const std::size_t aligned = (begin + alignment - 1) / alignment * alignment;
  *reinterpret_cast<std::size_t*>(aligned - 16) = size;
  return reinterpret_cast<void*>(aligned);
}
}  // namespace

void* operator new(std::size_t size) { return take(16, size); }
void* operator new[](std::size_t size) { return take(16, size); }
void operator delete(void*) noexcept {}
void operator delete[](void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
void operator delete[](void*, std::size_t) noexcept {}

extern "C" {
void* malloc(std::size_t size) { return take(16, size); }
void free(void*) {}
void* calloc(std::size_t count, std::size_t size) {
  void* block = take(16, count * size);
  return block ? std::memset(block, 0, count * size) : block;
}
void* realloc(void* block, std::size_t size) {
  void* fresh = take(16, size);
  if (!block || !fresh) return fresh;
  const std::size_t before = *reinterpret_cast<std::size_t*>(static_cast<char*>(block) - 16);
  return std::memcpy(fresh, block, before < size ? before : size);
}
void* memalign(std::size_t alignment, std::size_t size) { return take(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return take(alignment, size); }
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  *to = take(alignment, size);
  return 0;
}
}
