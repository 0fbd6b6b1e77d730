// The recording of this process, and what the caller is to it. Any context unless it is stated.
#pragma once
#include <cstdint>

#include "libcollector/format/overview.h"
#include "libcollector/record/recorder.h"

namespace gnomon::collector {

// The recorder of the latest recording, which may be over; null: there was none. A fork child sees
// its memory zeroed.
inline constinit Recorder* own_recorder = nullptr;

// How the calling process is related to the recorded one.
enum class Role : std::uint8_t {
  recorded,       // the same process
  fork_child,     // has a copy of its memory
  sharing_child,  // shares its memory, as after vfork(2)
};
// Asks the kernel: that may end a program which has confined itself.
Role role_beside(const Recorder& recording);

// Returns the recorder while this process records; null otherwise and in a fork child.
Recorder* active_recorder();
// Returns the control page of this process; null while it does not record, and in every child.
format::ControlPage* own_control();

// Has the recording show the figures of the process. Counts a sample that cannot be taken as
// dropped. Normal context.
void take_sample(Recorder& of, format::SampleEvent event);

}  // namespace gnomon::collector
