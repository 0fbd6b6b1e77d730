// A program without shared libraries: nothing can be preloaded into it.
#include <cstdio>

int main() {
  std::puts("alone");
  return 0;
}
