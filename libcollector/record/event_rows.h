// The rows of the event kinds in header.json. Any context: writes to the line's buffer only.
#pragma once
#include "libcollector/core/json_line.h"

namespace gnomon::collector {

// Adds the array `events`, so that a reader needs no knowledge of the structs.
void write_events(JsonLine& line);

}  // namespace gnomon::collector
