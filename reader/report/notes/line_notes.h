// How much of the time has no line numbers, and why, in sentences to stand above a table. Any
// thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/report/base/items.h"

namespace gnomon::reader {

// places: lines, or instructions. Empty if that is little.
std::vector<std::string> line_notes(const Analysis& analysis, const PlaceItems& places);

}  // namespace gnomon::reader
