// Watches a target's launches and answers the collector of each. On a thread of its own.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

class Watch {
 public:
  // executable: real path of the program. A failed launch is also reported on the debugger's error
  // output.
  Watch(lldb::SBDebugger debugger, lldb::SBTarget target, Settings settings,
        std::string executable);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Says why the process is not recorded; nothing if it is, or if that is not known. Any thread.
  std::optional<Fault> verdict(lldb::SBProcess process);

 private:
  void run(const std::stop_token& stop);
  void judge(std::uint32_t process, pid_t pid, const std::stop_token& stop);
  std::optional<Fault> fault_of(pid_t pid, const std::stop_token& stop);
  std::optional<Fault> fault_from_outside(pid_t pid, const Fault& obstacle);
  // Prints a line on the debugger's error output.
  void warn(const std::string& what);

  lldb::SBDebugger debugger_;
  lldb::SBTarget target_;
  const Settings settings_;
  const std::string executable_;
  lldb::SBListener events_;
  lldb::SBBroadcaster bell_;  // wakes the thread for its end
  std::mutex mutex_;
  std::uint32_t judged_ = 0;      // LLDB's number of the process, which never repeats
  std::optional<Fault> verdict_;  // of judged_
  std::jthread thread_;
};

}  // namespace gnomon::injector
