// Launch: prepares a target's environment so that its next runs load libcollector.so. LLDB's
// command thread.
#pragma once
#include <lldb/API/LLDB.h>

#include <cstdint>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

struct LaunchSettings {
  std::string library;  // path of libcollector.so
  std::string stem;     // /directory/test of test.N.er
  std::uint64_t session = 0;
  std::uint64_t interval_ns = 0;
};

// What was prepared, and what to put back.
class Launch {
 public:
  // Sets the target's environment and how LLDB treats SIGPROF. The user's LD_PRELOAD stays behind
  // ours.
  static Result<Launch> prepare(lldb::SBDebugger& debugger, lldb::SBTarget target,
                                const LaunchSettings& settings);
  // Takes it all out of the environment again.
  void release(lldb::SBDebugger& debugger);

  const LaunchSettings& settings() const { return settings_; }
  lldb::SBTarget target() const { return target_; }

 private:
  lldb::SBTarget target_;
  LaunchSettings settings_;
  std::string users_preload_;
};

}  // namespace gnomon::injector
