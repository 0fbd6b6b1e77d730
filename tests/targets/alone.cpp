// A program without shared libraries: nothing can be loaded into it. With an argument it stays
// until its input ends.
#include <cstdio>

int main(int argc, char**) {
  std::puts("alone");
  std::fflush(stdout);
  while (argc > 1 && std::getchar() != EOF) {
  }
  return 0;
}
