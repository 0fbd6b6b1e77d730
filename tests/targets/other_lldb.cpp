// Loads the plugin as an LLDB of another major version would. Argument: the plugin.
#include <dlfcn.h>

#include <cstdio>

namespace lldb {
struct SBDebugger {
  static const char* GetVersionString();
};
[[gnu::visibility("default")]] const char* SBDebugger::GetVersionString() {
  return "lldb version 14.0.6\n  revision 123";
}
}  // namespace lldb

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : nullptr;
  if (!plugin) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  using Initialize = bool (*)(void*);
  const auto initialize =
      reinterpret_cast<Initialize>(dlsym(plugin, "_ZN4lldb16PluginInitializeENS_10SBDebuggerE"));
  void* debugger[2] = {};
  if (!initialize) return 3;
  const bool accepted = initialize(debugger);
  std::puts(accepted ? "accepted" : "refused");
}
