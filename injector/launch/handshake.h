// Handshake of a launch: finds the control page of the launched program's experiment and tells the
// collector, which is holding the program, to record. Any thread; needs no debugger.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <stop_token>
#include <string>

#include "reader/base/result.h"

namespace gnomon::injector {

// Waits up to `limit_ms` for the control page of process `pid` below `stem` (/directory/test of
// test.N.er) and for the collector to be armed, then tells it to record. Returns the experiment,
// empty if the program has ended; a Fault says why the program runs without being recorded.
Result<std::string> ask_to_record(const std::string& stem, std::uint64_t session, pid_t pid,
                                  unsigned limit_ms, const std::stop_token& stop);

}  // namespace gnomon::injector
