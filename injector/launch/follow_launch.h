// Follows a launch until the collector in the program records, or cannot. Any thread; needs no
// debugger.
#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "injector/base/settings.h"
#include "reader/base/result.h"

namespace gnomon::injector {

struct LaunchedProgram {
  const Settings& settings;
  std::string executable;  // real path, as /proc/PID/exe names it
  pid_t pid;
};

struct LaunchNews {
  // The program waits at the point of recording, and goes on once this returns. May be empty.
  std::function<void(const std::string& experiment)> armed;
  // The program is not recorded yet, though it has run for long; why: a clause. May be empty.
  std::function<void(const std::string& why)> late;
  // What failed beside the recording, lines.
  std::function<void(const std::string& lines)> failed;
};

// The sentence for `late`.
std::string not_yet(pid_t pid, const std::string& why);

// Waits, as long as it takes, until the loader has loaded libcollector.so into the program, tells
// it to record and starts gnomon-sampler. Returns why the program is not recorded; nothing: it is,
// or it has ended, or `stop` is requested.
std::optional<Fault> follow_launch(const LaunchedProgram& program, const LaunchNews& news,
                                   const std::stop_token& stop);

}  // namespace gnomon::injector
