// Launch: prepares a target's environment so that its next runs load libcollector.so. LLDB's
// command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include <memory>
#include <string>

#include "injector/launch/launch_watch.h"
#include "reader/base/result.h"

namespace gnomon::injector {

// As the kernel will name it in /proc/PID/exe; empty: no such file is here.
std::string real_path(const lldb::SBFileSpec& file);

// What was prepared, and what to put back.
class Launch {
 public:
  // Sets the target's environment and how LLDB treats SIGPROF, and watches its launches. The user's
  // LD_PRELOAD stays behind ours.
  static Result<Launch> prepare(lldb::SBDebugger& debugger, lldb::SBTarget target,
                                const Settings& settings);
  // Takes it all out of the environment again.
  void release(lldb::SBDebugger& debugger);

  lldb::SBTarget target() const { return target_; }
  // Why gnomon-sampler alone records the launches, a clause; empty: it does not.
  const std::string& outside() const { return outside_; }
  // Why a process of this launch is not recorded; empty: it is, or it is not known.
  std::optional<Fault> verdict(lldb::SBProcess process) const { return watch_->verdict(process); }

 private:
  lldb::SBTarget target_;
  std::string users_preload_, preload_;  // LD_PRELOAD before, and as this has set it
  std::string outside_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace gnomon::injector
