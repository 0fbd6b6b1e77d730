// A process that LLDB holds runs until a library has come in, or has given it back. LLDB's command
// thread; the process is stopped.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "injector/attach/insertion.h"
#include "injector/attach/lldb/lldb_choice.h"

namespace gnomon::injector {

// The borrowed thread stands at the gate's entry; afterwards it is where it was, or will be. For
// how long the process ran; sent: the threads that were in the gate's code.
std::chrono::nanoseconds run_insertion(lldb::SBProcess& process, Chosen& chosen,
                                       Insertion& insertion, std::vector<pid_t>& sent);

}  // namespace gnomon::injector
