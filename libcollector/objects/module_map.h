// Load objects: writes what is mapped where to map.jsonl.
#pragma once
#include <cstdint>

#include "libcollector/record/recorder.h"
#include "libcollector/unwind/frame_table.h"

namespace gnomon::collector {

// What the loader brought before the program began is never unloaded.
enum class Loaded { at_start, at_any_time };
// Writes every object loaded now, and forgets what an earlier session knew. `scratch` takes one
// line. False: map.jsonl cannot be written. Normal context: takes the loader's lock.
bool write_load_objects(Recorder& recorder, Loaded loaded, char* scratch,
                        std::uint64_t scratch_bytes);

// Writes the object `pc` lies in unless it is known; what cannot be written is counted. True: it
// lies where another one was, and a new epoch begins with it. Any context, signal handlers too;
// takes no lock (glibc 2.35 or newer; on an older one objects loaded later stay unknown).
bool note_load_object(std::uint64_t pc, Recorder& recorder, Lane& lane);

// Writes which of the known objects are gone; true: some, and a new epoch has begun. Normal
// context: takes the lock of dl_iterate_phdr(3).
bool note_unloaded(Recorder& recorder);

// The frame table of the object `pc` lies in; false: none. Any context; takes no lock.
bool find_frame_table(std::uint64_t pc, FrameTable& found);

}  // namespace gnomon::collector
