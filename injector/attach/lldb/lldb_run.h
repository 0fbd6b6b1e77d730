// Lets a process that LLDB holds run until an insertion is done. LLDB's command thread; the process
// is stopped.
#pragma once
#include <lldb/API/LLDB.h>
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "injector/attach/insertion.h"
#include "injector/attach/lldb/lldb_choice.h"

namespace gnomon::injector {

// The borrowed thread stands at the gate's entry; afterwards it is where it was, or will soon be.
// Returns for how long the process ran. sent: receives the threads that were in the gate's code.
std::chrono::nanoseconds run_insertion(lldb::SBProcess& process, Chosen& chosen,
                                       Insertion& insertion, std::vector<pid_t>& sent);

}  // namespace gnomon::injector
