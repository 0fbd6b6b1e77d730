// Sentences about what a recording lacks, to stand above a table: threads that the clock has not
// sampled, child processes, the time after the end of gnomon-sampler. Any thread.
#pragma once
#include <string>

#include "reader/analysis/part.h"

namespace gnomon::reader {

// Empty if every thread that has used CPU time was sampled, as far as samples tell.
std::string unsampled_threads_note(const Part& part);
// Empty unless gnomon-sampler was the clock, and was gone before the recording ended.
std::string clock_gap_note(const Part& part);
// Says how much CPU time a launched program used before its recording began: constructors of its
// libraries run before the collector's. Empty if that is little.
std::string before_begin_note(const Part& part);
// Empty if a collector was in the process.
std::string outside_note(const Header& header);
// Makes the fault of a report about calls that were traced and did not happen. `what` says so, as
// in "the program has not allocated anything".
tl::unexpected<Fault> nothing_traced(const Experiment& experiment, const std::string& what);
// Makes the fault of a report about calls of which none were traced. `what` says so, as in
// "allocations were not recorded"; `next` says how the user has them traced, and is used only if a
// collector can come into the program.
tl::unexpected<Fault> not_traced(const Header& header, const std::string& what,
                                 const std::string& next);
// Says where time in the kernel comes from that no tick tells. Empty if there is next to none.
std::string unseen_kernel_note(const Part& part);
// Empty if the program started no child process, as far as that is known.
std::string children_note(const Part& part);

}  // namespace gnomon::reader
