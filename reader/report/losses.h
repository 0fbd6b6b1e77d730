// What an experiment lost, in sentences to stand above a table. Any thread.
#pragma once
#include <string>
#include <vector>

#include "reader/experiment/events.h"
#include "reader/experiment/experiment.h"

namespace gnomon::reader {

std::vector<std::string> loss_notes(const Experiment& experiment, const StackSum& total,
                                    const StackSum& truncated);

}  // namespace gnomon::reader
