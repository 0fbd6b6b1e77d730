// What of a program was not recorded: threads that the clock has not sampled, child processes, what
// came after the end of gnomon-sampler; sentences to stand above a table. Any thread.
#pragma once
#include <string>

#include "reader/analysis/part.h"

namespace gnomon::reader {

// Empty if every thread that has used CPU time was sampled, as far as samples tell.
std::string unsampled_threads_note(const Part& part);
// Empty unless gnomon-sampler was the clock, and was gone before the recording ended.
std::string clock_gap_note(const Part& part);
// Empty if the program started no child process, as far as that is known.
std::string children_note(const Part& part);

}  // namespace gnomon::reader
