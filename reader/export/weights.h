// Tells how much each event adds to the metric that is exported. Any thread.
#pragma once
#include <functional>

#include "reader/export/formats.h"

namespace gnomon::reader {

using TakeWeight = std::function<void(const Event& event, std::uint64_t weight, CallId node)>;

// Gives the events of a part that add something, with the node of their call stack. Fault: damage,
// or the user interrupted.
Result<void> each_weight(const ExportSource& source, Part& part, const TakeWeight& take);

}  // namespace gnomon::reader
