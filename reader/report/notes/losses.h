// What an experiment lost, in sentences to stand above a table. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/report/base/columns.h"

namespace gnomon::reader {

// Which part of the recording is shown; empty: all of it.
std::string span_note(const Part& part);
// Which of its events count; empty: all.
std::string filter_note(const Analysis& analysis);

// Samples of the process that cannot be read, which also name its threads; empty: there are none.
std::string lost_samples_note(const Part& part);

// profile: what was truncated is said of; null: not said. with_time: also how much of the process's
// time the clock samples cover.
std::vector<std::string> loss_notes(const Analysis& analysis, const Profile* profile,
                                    bool with_time = true);

// Those, what a report leaves out, and whose symbols are missing.
std::vector<std::string> all_notes(const Analysis& analysis, const Profile& profile,
                                   const Shown& shown);

}  // namespace gnomon::reader
