// Threads allocate without a pause. Another loads and unloads a library, if one is given.
// Arguments: threads, seconds (0: until its input ends), how it ends (join: after its threads;
// leave: while they allocate), library. Prints "right" at the end.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> over = false;

[[gnu::noinline]] void* allocates(unsigned depth, std::size_t size) {
  void* block = depth == 0 ? std::malloc(size) : allocates(depth - 1, size);
  asm volatile("" : "+r"(block));
  return block;
}

void storm(unsigned seed) {
  for (unsigned random = seed; !over;) {
    random = random * 1103515245 + 12345;
    std::free(allocates(random >> 27, 16 + (random >> 16 & 511)));
  }
}

void load_and_unload(const char* path) {
  while (!over) {
    void* library = dlopen(path, RTLD_NOW);
    if (!library) _exit(3);
    using Work = long (*)(int);
    reinterpret_cast<Work>(dlsym(library, "works"))(20);
    dlclose(library);
  }
}

}  // namespace

extern "C" [[gnu::noinline]] void beat() { asm volatile("" ::: "memory"); }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  constexpr int kBeat = 50;  // ms
  const double seconds = std::atof(argv[2]);
  std::vector<std::thread> threads;
  for (int i = 1; i <= std::atoi(argv[1]); ++i)
    threads.emplace_back(storm, static_cast<unsigned>(7919 * i));
  if (argc > 4) threads.emplace_back(load_and_unload, argv[4]);
  const auto begin = std::chrono::steady_clock::now();
  pollfd input{seconds == 0 ? STDIN_FILENO : -1, POLLIN, 0};
  while (poll(&input, 1, kBeat) == 0) {
    beat();
    if (seconds != 0 &&
        std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds))
      break;
  }
  if (std::strcmp(argv[3], "leave") == 0) {
    std::puts("right");
    std::fflush(stdout);
    std::exit(0);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  std::puts("right");
}
