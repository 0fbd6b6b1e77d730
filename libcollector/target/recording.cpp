// The recording of this process, and what the caller is to it. Any context.
#include "libcollector/target/recording.h"

#include "libcollector/core/syscall.h"
#include "libcollector/record/overview.h"

namespace gnomon::collector {

Role role_beside(const Recorder& recording) {
  const format::ControlPage* const page = recording.control();
  if (!page) return Role::fork_child;
  return raw_syscall(SYS_getpid) == long{page->pid} ? Role::recorded : Role::sharing_child;
}

Recorder* active_recorder() {
  return own_recorder && own_recorder->recording() ? own_recorder : nullptr;
}

format::ControlPage* own_control() {
  Recorder* const active = active_recorder();
  return active && role_beside(*active) == Role::recorded ? active->control() : nullptr;
}

void take_sample(Recorder& of, format::SampleEvent event) {
  if (!sample_own_process(of.directory(), *of.control(), event)) of.drop(format::Drop::samples);
}

}  // namespace gnomon::collector
