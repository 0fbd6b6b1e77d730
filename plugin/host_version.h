// Is the LLDB that loads the plugin of the version it is built for? LLDB's command thread.
#pragma once
#include <string>

namespace gnomon::plugin {

// `caller`: an address in the code that called PluginInitialize. Empty: it is; else a sentence, and
// no function of the SB API may be called, for they may not be there or mean something else.
std::string wrong_host(const void* caller);

}  // namespace gnomon::plugin
