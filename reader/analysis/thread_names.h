// The names of recorded threads. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "reader/analysis/analysis.h"

namespace gnomon::reader {

// As the last sample that has a name of the thread, by number of the part and of the thread.
using ThreadNames = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;
ThreadNames thread_names(const Analysis& analysis);

}  // namespace gnomon::reader
