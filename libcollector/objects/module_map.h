// Load objects: writes to map.jsonl which object lies at which addresses. The context stands at
// each function.
#pragma once
#include <cstdint>

#include "libcollector/record/file_space.h"
#include "libcollector/record/recorder.h"
#include "libcollector/unwind/frame_table.h"

namespace gnomon::collector {

// at_start: objects that were loaded before the program began, which are never unloaded.
enum class Loaded { at_start, at_any_time };
// Writes every object loaded now and forgets those of an earlier session. scratch: room for one
// line. Normal context: takes the loader's lock.
FileError write_load_objects(Recorder& recorder, Loaded loaded, char* scratch,
                             std::uint64_t scratch_bytes);

// Writes the object that contains `pc`, unless it was written before. An object that cannot be
// written is counted in the control page (Drop::load_objects). Returns true if a new epoch has
// begun, because the object lies where another one was. Any context, signal handlers too; takes no
// lock (glibc 2.35 or newer; with an older one, objects loaded later stay unknown).
bool note_load_object(std::uint64_t pc, Recorder& recorder, Writer& writer);

// Writes which of the known objects are gone. Returns true if there were any, so that a new epoch
// has begun. Normal context: takes the lock of dl_iterate_phdr(3).
bool note_unloaded(Recorder& recorder);

// Stores the frame table of the object that contains `pc`, which may be empty. Returns false if no
// object contains it. Any context; takes no lock.
bool find_frame_table(std::uint64_t pc, FrameTable& found);

}  // namespace gnomon::collector
