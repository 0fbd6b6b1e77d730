// Threads allocate without a pause. Another loads and unloads a library, if one is given.
// Arguments: threads, seconds (0: until its input ends), how it ends (join: after its threads;
// leave: while they allocate), library. Prints "right" at the end.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> over = false;

[[gnu::noinline]] void* allocates(unsigned depth, std::size_t size) {
  void* block = depth == 0 ? std::malloc(size) : allocates(depth - 1, size);
  asm volatile("" : : "r"(block) : "memory");
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
  const int beats = static_cast<int>(std::atof(argv[2]) * 1000) / kBeat;
  std::vector<std::thread> threads;
  for (int i = 1; i <= std::atoi(argv[1]); ++i)
    threads.emplace_back(storm, static_cast<unsigned>(7919 * i));
  if (argc > 4) threads.emplace_back(load_and_unload, argv[4]);
  // Time at a debugger's stops does not count.
  pollfd input{beats == 0 ? STDIN_FILENO : -1, POLLIN, 0};
  for (int i = 0; (beats == 0 || i < beats) && poll(&input, 1, kBeat) == 0; ++i) beat();
  if (std::strcmp(argv[3], "leave") == 0) {
    std::puts("right");
    std::fflush(stdout);
    std::exit(0);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  std::puts("right");
}
