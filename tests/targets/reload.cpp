// Loads libraries at one address after another, runs and unloads them. Arguments: directory of the
// libraries, then letters: which, in order, 0.1 CPU seconds each.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "tests/targets/burn.h"

using Work = void (*)(double (*)(), double);

int main(int argc, char** argv) {
  void* last = nullptr;
  for (int i = 2; i < argc; ++i) {
    const std::string letter = argv[i];
    void* library =
        dlopen((std::string(argv[1]) + "/libplugin_" + letter + ".so").c_str(), RTLD_NOW);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const auto work = reinterpret_cast<Work>(dlsym(library, ("work_of_" + letter).c_str()));
    if (!work) return 2;
    if (last && reinterpret_cast<void*>(work) != last) return 77;  // elsewhere: nothing to see
    last = reinterpret_cast<void*>(work);
    work(cpu_time, cpu_time() + 0.1);
    if (dlclose(library) != 0) return 3;
  }
}
