// What LLDB knows of a process. LLDB's command thread.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include "injector/attach/remote/remote_process.h"
#include "injector/lldb/lldb_local.h"

namespace gnomon::plugin {

inline pid_t number_of(lldb::SBProcess process) {
  return static_cast<pid_t>(process.GetProcessID());
}

// LLDB learns of the end of a process, also after `kill`, a moment after it.
inline bool is_running_somewhere(lldb::SBProcess process) {
  switch (process.GetState()) {
    case lldb::eStateInvalid:
    case lldb::eStateUnloaded:
    case lldb::eStateExited:
    case lldb::eStateDetached:
      return false;
    default:
      return process.IsValid() && !injector::is_record(process);
  }
}

// Returns true for a process of this machine that has not ended.
inline bool is_alive(lldb::SBProcess process) {
  return is_running_somewhere(process) && !injector::has_ended(number_of(process)) &&
         injector::check_is_local(process);
}

}  // namespace gnomon::plugin
