// Loads a library by dlopen and has it submit requests 100 times. Arguments: path, by its path;
// name, by a name that the executable's own search path finds; library, by a name that the search
// path of another library finds. With a second argument it prints "ready" and waits for a line
// before. Prints "right" at the end.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string way = argv[1], folder = argv[2];
  if (argc > 3) {
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
  }
  using Use = int (*)(int);
  void* library = nullptr;
  if (way == "path") library = dlopen((folder + "/liblate_user.so").c_str(), RTLD_NOW);
  if (way == "name") library = dlopen("liblate_user.so", RTLD_NOW);
  if (way == "library") {
    void* const opener = dlopen((folder + "/liblate_opener.so").c_str(), RTLD_NOW);
    auto* const open = opener ? reinterpret_cast<void* (*)()>(dlsym(opener, "late_open")) : nullptr;
    library = open ? open() : nullptr;
  }
  if (!library) {
    std::puts(dlerror());
    return 1;
  }
  auto* const use = reinterpret_cast<Use>(dlsym(library, "late_use"));
  std::puts(use && use(100) == 700 ? "right" : "wrong");
}
