// Sentences about events that a recording has lost, to stand above a table. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/part.h"

namespace gnomon::reader {

// Appends them: why the recording stopped early, what was dropped, what the files have lost.
void add_missing_events(const Part& part, std::vector<std::string>& notes);

}  // namespace gnomon::reader
