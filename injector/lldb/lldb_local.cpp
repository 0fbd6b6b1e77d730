// Is what LLDB shows a process of this machine? LLDB's command thread.
#include "injector/lldb/lldb_local.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "injector/attach/checks/rights.h"
#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// Returns true if the program lies in the local process where LLDB says that it does.
bool has_program(pid_t pid, lldb::SBTarget target) {
  lldb::SBAddress header = target.GetModuleAtIndex(0).GetObjectFileHeaderAddress();
  const std::uint64_t begin = header.GetLoadAddress(target);
  const auto mappings = mappings_of(pid);
  return std::any_of(mappings.begin(), mappings.end(),
                     [&](const Mapping& mapping) { return mapping.begin == begin; });
}

}  // namespace

bool is_record(lldb::SBProcess process) {
  const char* kind = process.GetPluginName();
  return kind && std::string_view(kind) != "gdb-remote";
}

Result<void> check_is_local(lldb::SBProcess process) {
  const auto pid = static_cast<pid_t>(process.GetProcessID());
  if (auto fits = check_is_process(pid); !fits) return fits;
  const auto tracer = static_cast<pid_t>(status_number(pid, "TracerPid").value_or(0));
  const bool is_by_own_server =
      tracer > 0 && static_cast<pid_t>(status_number(tracer, "PPid").value_or(0)) == getpid();
  if (is_by_own_server || (tracer > 0 && has_program(pid, process.GetTarget()))) return {};
  return fault("it does not run on this machine",
               "record it there: `gnomon collect -P " + std::to_string(pid) + "`");
}

}  // namespace gnomon::injector
