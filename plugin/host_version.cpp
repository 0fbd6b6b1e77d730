// Is the LLDB that loads the plugin of the version it is built for? LLDB's command thread. Calls
// nothing of the SB API but through dlsym: the plugin is bound to whatever LLDB loads it.
#include "plugin/host_version.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace gnomon::plugin {
namespace {

constexpr const char* kGetVersionString = "_ZN4lldb10SBDebugger16GetVersionStringEv";

// From "lldb version 19.1.7": "19.1.7".
std::string number_in(const std::string& text) {
  const auto begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return "of unknown version";
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

}  // namespace

std::string wrong_host(const void* caller) {
  Dl_info host{};
  if (dladdr(caller, &host) == 0) return "";
  // Where LLDB is part of something that keeps its symbols to itself, a Python module or an IDE's,
  // the calls bind to it all the same.
  void* handle = dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (!handle) handle = dlopen(nullptr, RTLD_LAZY);
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(handle, kGetVersionString));
  const std::string number = number_in(version ? version() : "");
  if (std::atoi(number.c_str()) == GNOMON_LLDB_MAJOR) return "";
  return fmt::format(
      "this Gnomon is built for LLDB {}, and {} is LLDB {}; start lldb-{}, or build Gnomon "
      "for this one",
      GNOMON_LLDB_MAJOR, host.dli_fname, number, GNOMON_LLDB_MAJOR);
}

}  // namespace gnomon::plugin
