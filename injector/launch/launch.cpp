// Launch: prepares a target's environment so that its next runs load libcollector.so. LLDB's
// command thread.
#include "injector/launch/launch.h"

#include <stdlib.h>

#include <memory>
#include <utility>
#include <vector>

#include "injector/linkage.h"
#include "injector/lldb_commands.h"
#include "injector/preflight.h"
#include "injector/sanitizers.h"
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

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

// What of LD_PRELOAD is ours, as ld.so(8) has it; `theirs`: what the user has set there.
struct Preload {
  std::string ours, all;
};
Preload preload_of(const std::string& executable, const std::string& library,
                   const std::string& theirs) {
  const auto linkage = Linkage::of(executable);
  const std::string first = linkage ? first_library(*linkage) : "";
  if (!first.empty() && theirs.find(first) != std::string::npos)
    return {library, theirs + ":" + library};
  const std::string ours = first.empty() ? library : first + ":" + library;
  return {ours, theirs.empty() ? ours : ours + ":" + theirs};
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
  // ld.so takes ':' and ' ' for the end of an entry.
  if (settings.library.find_first_of(": ") != std::string::npos)
    return fault(
        settings.library + " cannot be preloaded because of the blank or colon in its path",
        "install Gnomon under another path");
  Launch launch;
  launch.target_ = target;
  if (const char* preload = target.GetEnvironment().Get("LD_PRELOAD"))
    launch.users_preload_ = preload;
  format::SettingValues values = settings.values;
  values[format::Setting::hold] = kHoldMs * std::uint64_t{1'000'000};
  const Preload preload = preload_of(executable, settings.library, launch.users_preload_);
  const std::pair<const char*, std::string> variables[] = {
      {format::kEnvLibrary, preload.ours},
      {format::kEnvTarget, executable},
      {format::kEnvSession, hex(settings.session)},
      {format::kEnvStem, settings.stem},
      {format::kEnvSettings, format::settings_text(values).text},
      {"LD_PRELOAD", preload.all}};
  for (const auto& [name, value] : variables) {
    std::string error;
    if (quietly(debugger, "settings append target.env-vars " + quoted(name + ("=" + value)),
                &error))
      continue;
    launch.release(debugger);
    return fault("LLDB does not take the environment variable " + std::string(name) + ": " + error);
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
