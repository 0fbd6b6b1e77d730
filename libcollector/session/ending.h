// The end of this process's recording. The context stands at each function.
#pragma once
#include <cstdint>

namespace gnomon::collector {

// CPU time of the process before its recording, ns.
inline constinit std::uint64_t cpu_before_recording = 0;

// Ends the recording if somebody has asked for that. Called by a tick, in the signal handler, whose
// stack may be small. A handler that has interrupted a traced call leaves it to another thread,
// because the end waits for threads in such calls.
void end_if_asked();
// Ends the recording because the program ends. Does nothing in a child. Normal context.
void finish();

// Waits half a second at most for the end of the previous recording. Returns false if the thread
// that is ending it cannot make progress because a debugger is holding it. Normal context.
bool has_earlier_ended();
// Ends the recording, if there is one, as a tick would. Returns false if a tick that is ending it
// makes no progress. Normal context.
bool end_session();
// Ends the recording for good: no system call of the collector's is made afterwards. Does nothing
// in a child of fork or vfork. Normal context.
void end_before_confinement();

}  // namespace gnomon::collector
