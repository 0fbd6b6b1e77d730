// Disassembly for the program gnomon, by liblldb. The program's only thread.
#include "commands/print/disassembler.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <string>

#include "commands/host/library_folders.h"

namespace gnomon::commands {
namespace {

// As distributions name it, and as LLVM's own packages lay it down.
constexpr std::array kLibraries{"liblldb-{0}.so.1", "liblldb.so.{0}.1", "liblldb.so.{0}",
                                "/usr/lib/llvm-{0}/lib/liblldb.so"};
constexpr const char* kPlugin = "lldb-gnomon.so";

// The plugin's calls bind to what is loaded here.
bool load_lldb() {
  for (const char* name : kLibraries)
    if (dlopen(fmt::format(fmt::runtime(name), GNOMON_LLDB_MAJOR).c_str(), RTLD_LAZY | RTLD_GLOBAL))
      return true;
  return false;
}

}  // namespace

Result<reader::Disassembler*> load_disassembler() {
  if (!load_lldb())
    return fault(fmt::format("disassembly needs the library of LLDB {}, which is not there",
                             GNOMON_LLDB_MAJOR),
                 fmt::format("install liblldb-{}", GNOMON_LLDB_MAJOR));
  std::string reason = "it is nowhere";
  for (const std::string& folder : library_folders()) {
    const std::string path = folder + "/" + kPlugin;
    void* const plugin = dlopen(path.c_str(), RTLD_LAZY);
    if (!plugin) {
      reason = dlerror();
      continue;
    }
    const auto make =
        reinterpret_cast<reader::Disassembler* (*)()>(dlsym(plugin, "gnomon_disassembler"));
    if (make) return make();
    reason = path + " is of another version";
  }
  return fault(fmt::format("{} cannot be loaded: {}", kPlugin, reason), "install Gnomon again");
}

}  // namespace gnomon::commands
