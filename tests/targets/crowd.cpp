// Everything a reader could trip over while it is written: threads that come and go, thousands of
// call stacks, libraries that come and go. Until its input ends. Argument: directory of the
// libraries.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/targets/burn.h"

namespace {

std::atomic<bool> over = false;

[[gnu::noinline]] int left(unsigned path, int depth);
[[gnu::noinline]] int right(unsigned path, int depth);

int step(unsigned path, int depth) {
  if (depth == 0) {
    burn(0.0005);
    return 1;
  }
  return path & 1 ? left(path >> 1, depth - 1) : right(path >> 1, depth - 1);
}
int left(unsigned path, int depth) { return step(path, depth) + 1; }
int right(unsigned path, int depth) { return step(path, depth) + 2; }

void computer(unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < 20 && !over; ++i)
    step(static_cast<unsigned>(random()), static_cast<int>(random() % 20));
}

void come_and_go(unsigned seed) {
  for (; !over; seed += 2) std::thread(computer, seed).join();
}

void load_and_unload(const std::string& directory) {
  for (bool a = true; !over; a = !a) {
    void* library = dlopen((directory + "/libplugin_" + (a ? "a" : "b") + ".so").c_str(), RTLD_NOW);
    if (!library) _exit(3);
    using Work = void (*)(double (*)(), double);
    reinterpret_cast<Work>(dlsym(library, a ? "work_of_a" : "work_of_b"))(cpu_time,
                                                                          cpu_time() + 0.01);
    dlclose(library);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= 2; ++i) threads.emplace_back(come_and_go, i);
  threads.emplace_back(load_and_unload, argv[1]);
  for (char byte; read(STDIN_FILENO, &byte, 1) > 0;) continue;
  over = true;
  for (std::thread& thread : threads) thread.join();
}
