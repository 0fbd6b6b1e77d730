// Memory for an insertion that an earlier one has left in the process. LLDB's command thread; the
// process is stopped.
#pragma once
#include <sys/types.h>

#include <optional>

#include "libcollector/format/attach.h"

namespace gnomon::injector {

// Memory is not unmapped through LLDB: its server would leave a thread marked for stepping, and the
// process would end by SIGTRAP if LLDB ended then.
using Room = format::LeftRoom;

// Returns the room that is left in the process, for the caller alone; nothing if there is none.
std::optional<Room> take_left_room(pid_t pid);
// Leaves a room in which no thread is any more. Returns false if the collector is not in the
// process.
bool leave_room(pid_t pid, const Room& room);

}  // namespace gnomon::injector
