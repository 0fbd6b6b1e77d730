// Launch: prepares a target's environment so that its next runs load libcollector.so. LLDB's
// command thread.
#include "injector/launch/launch.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <memory>

#include "injector/launch/environment.h"
#include "injector/lldb_commands.h"
#include "injector/preflight.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

// For LLDB's command line, between double quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`') out += '\\';
    out += c;
  }
  return out + "\"";
}

// As the kernel will name it in /proc/PID/exe.
std::string real_path(const lldb::SBFileSpec& file) {
  char path[4096] = {};
  file.GetPath(path, sizeof path);
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path, nullptr), std::free);
  return real ? real.get() : "";
}

}  // namespace

Result<Launch> Launch::prepare(lldb::SBDebugger& debugger, lldb::SBTarget target,
                               const Settings& settings) {
  const std::string executable = real_path(target.GetExecutable());
  if (executable.empty())
    return fault("the target's program is not a file here", "choose one with `target create`");
  if (auto fit = check_program(executable); !fit) return tl::unexpected(fit.error());
  Launch launch;
  launch.target_ = target;
  if (const char* preload = target.GetEnvironment().Get("LD_PRELOAD"))
    launch.users_preload_ = preload;
  const auto variables = launch_variables(settings, executable, launch.users_preload_);
  if (!variables) return tl::unexpected(variables.error());
  for (const auto& [name, value] : *variables) {
    std::string error;
    const std::string assignment = quoted(fmt::format("{}={}", name, value));
    if (quietly(debugger, "settings append target.env-vars " + assignment, &error)) continue;
    launch.release(debugger);
    return fault(fmt::format("LLDB does not take the environment variable {}: {}", name, error));
  }
  if (!let_sigprof_pass(debugger)) {
    launch.release(debugger);
    return fault("LLDB does not let SIGPROF pass", "see `help process handle`");
  }
  launch.watch_ = std::make_unique<Watch>(debugger, target, settings, executable);
  return launch;
}

void Launch::release(lldb::SBDebugger& debugger) {
  watch_.reset();
  for (const char* name : {format::kEnvLibrary, format::kEnvTarget, format::kEnvSession,
                           format::kEnvStem, format::kEnvSettings, "LD_PRELOAD"})
    quietly(debugger, std::string("settings remove target.env-vars ") + name);
  if (!users_preload_.empty())
    quietly(debugger, "settings append target.env-vars " + quoted("LD_PRELOAD=" + users_preload_));
}

}  // namespace gnomon::injector
