// The code of this process as its call stacks see it. The context stands at each function.
#include "libcollector/target/code.h"

#include "libcollector/objects/module_map.h"
#include "libcollector/target/recording.h"

namespace gnomon::collector {

void note_fresh_frame(std::uint64_t pc, Recorder& to, Writer& writer) {
  if (note_load_object(pc, to, writer)) own_unwinder.forget();
}

void forget_unloaded() {
  if (Recorder* active = active_recorder(); active && note_unloaded(*active)) own_unwinder.forget();
}

}  // namespace gnomon::collector
