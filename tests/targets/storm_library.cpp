// A library whose start, work and end allocate, lock, and write.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

namespace {

std::mutex mutex;
void* kept = nullptr;
int count = 0;

[[gnu::constructor]] void begins() { kept = std::malloc(500); }
[[gnu::destructor]] void ends() { std::free(kept); }

}  // namespace

extern "C" long works(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard lock(mutex);
    void* block = std::malloc(10 + static_cast<std::size_t>(i));
    asm volatile("" : : "r"(block) : "memory");
    std::free(block);
    const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    count += write(file, "x", 1) == 1;
    close(file);
  }
  return count;
}
