// Runtimes that generate code while the program runs, recognised by a load object. Any thread.
#include "injector/base/runtimes.h"

#include <array>
#include <csignal>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// HotSpot uses SIGSEGV to stop threads for garbage collection and to detect null pointers.
constexpr std::array kRuntimes{
    Runtime{"/libjvm.so",
            "Java methods are shown as <Unknown>, only native functions by name; async-profiler "
            "names both.",
            "the Java VM", SIGSEGV, "SIGSEGV"},
};

}  // namespace

const Runtime* runtime_in(pid_t pid) {
  for (const Mapping& mapping : mappings_of(pid))
    for (const Runtime& runtime : kRuntimes)
      if (mapping.path.ends_with(runtime.file)) return &runtime;
  return nullptr;
}

}  // namespace gnomon::injector
