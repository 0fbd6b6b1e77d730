// Handshake of a launch: finds the control page of the launched program's experiment and tells the
// collector, which is holding the program, to record. Any thread; needs no debugger.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// The experiment of a launched process, before it has a name.
struct Expected {
  std::string stem;  // /directory/test of test.N.er
  std::uint64_t session;
  pid_t pid;
};

// Calls of ask_to_record; each may be empty.
struct HandshakeNews {
  // The program waits at the point of recording.
  std::function<void(const std::string& experiment)> armed;
  // The program has run for `late_ms` and has not reached that point. Called once; why: a clause.
  std::function<void(const std::string& why)> late;
};

// Waits for the control page of the experiment and for the collector to be armed, as long as the
// program runs, and tells the collector to record. Returns the experiment, empty if the program has
// ended or `stop` is requested; a Fault says why the program runs without being recorded.
Result<std::string> ask_to_record(const Expected& expected, unsigned late_ms,
                                  const HandshakeNews& news, const std::stop_token& stop);

}  // namespace gnomon::injector
