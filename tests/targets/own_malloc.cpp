// An allocator that is linked into its program: libc's behind one lock, and outside of it only by
// jumps, as others are. It ends the program if the thread that has the lock wants it again.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

// An error-checking one (pthread_mutexattr_settype(3)), ready before any constructor has run.
pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

class Held {
 public:
  Held() {
    if (pthread_mutex_lock(&lock) == 0) return;
    static constexpr char kText[] = "wrong: malloc inside of malloc\n";
    _exit(write(STDOUT_FILENO, kText, sizeof kText - 1) > 0 ? 1 : 2);
  }
  ~Held() { pthread_mutex_unlock(&lock); }
};

// Longer inside than outside.
void dawdle() {
  for (int i = 0; i < 300; ++i) asm volatile("");
}

#define JUMPS [[gnu::noinline, gnu::optimize("optimize-sibling-calls")]]

JUMPS void* gives(std::size_t size) {
  const Held held;
  dawdle();
  return __libc_malloc(size);
}
JUMPS void takes(void* block) {
  const Held held;
  dawdle();
  __libc_free(block);
}

}  // namespace

extern "C" {
JUMPS void* malloc(std::size_t size) { return gives(size); }
JUMPS void free(void* block) { return takes(block); }
void* calloc(std::size_t count, std::size_t size) {
  const Held held;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  const Held held;
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  const Held held;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
}
