// Launch: prepares a target's environment so that its next runs load libcollector.so. LLDB's
// command thread.
#include "injector/launch/launch.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <memory>

#include "injector/base/outside.h"
#include "injector/files/preflight.h"
#include "injector/launch/environment.h"
#include "injector/lldb/lldb_commands.h"
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

constexpr const char* kPreload = "LD_PRELOAD";

// Runs `settings ACTION target.env-vars WHAT` for this target, which need not be the selected one.
bool change_variables(lldb::SBDebugger& debugger, lldb::SBTarget target, const char* action,
                      const std::string& what, std::string* error = nullptr) {
  lldb::SBCommandReturnObject answer;
  lldb::SBExecutionContext about(target);
  const std::string command = fmt::format("settings {} target.env-vars {}", action, what);
  debugger.GetCommandInterpreter().HandleCommand(command.c_str(), about, answer, false);
  if (error && answer.GetError()) *error = answer.GetError();
  return answer.Succeeded();
}

}  // namespace

std::string real_path(const lldb::SBFileSpec& file) {
  char path[4096] = {};
  file.GetPath(path, sizeof path);
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path, nullptr), std::free);
  return real ? real.get() : "";
}

Result<Launch> Launch::prepare(lldb::SBDebugger& debugger, lldb::SBTarget target,
                               const Settings& settings) {
  const std::string executable = real_path(target.GetExecutable());
  if (executable.empty())
    return fault("the target's program is not a file here", "choose one with `target create`");
  const auto fit = check_program(executable);
  const auto kind = check_kind(executable);
  if (!fit && (kind || !is_native(executable))) return tl::unexpected(fit.error());
  if (!fit && !may_record_from_outside(settings))
    return tl::unexpected(no_way_in(settings, fit.error()));
  Launch launch;
  launch.target_ = target;
  if (!fit) {
    launch.outside_ = kind.error().what;
    launch.watch_ = std::make_unique<Watch>(debugger, target, settings, executable);
    return launch;
  }
  if (const char* preload = target.GetEnvironment().Get(kPreload)) launch.users_preload_ = preload;
  const auto variables = launch_variables(settings, executable, launch.users_preload_);
  if (!variables) return tl::unexpected(variables.error());
  for (const auto& [name, value] : *variables) {
    if (name == kPreload) launch.preload_ = value;
    std::string error;
    const std::string assignment = quoted(fmt::format("{}={}", name, value));
    if (change_variables(debugger, target, "append", assignment, &error)) continue;
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
  if (!target_.IsValid()) return;
  for (const char* name : {format::kEnvLibrary, format::kEnvTarget, format::kEnvSession,
                           format::kEnvStem, format::kEnvSettings})
    change_variables(debugger, target_, "remove", name);
  const char* preload = target_.GetEnvironment().Get(kPreload);
  if (!preload || preload != preload_) return;  // the user has set another one since
  change_variables(debugger, target_, "remove", kPreload);
  if (!users_preload_.empty())
    change_variables(debugger, target_, "append", quoted("LD_PRELOAD=" + users_preload_));
}

}  // namespace gnomon::injector
