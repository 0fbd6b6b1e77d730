// What every report on CPU time starts from: an experiment, its call tree and its functions. Any
// thread.
#pragma once
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/experiment/events.h"
#include "reader/experiment/experiment.h"
#include "reader/metrics/call_tree.h"
#include "reader/metrics/functions.h"
#include "reader/symbols/address_space.h"
#include "reader/table/table.h"

namespace gnomon::reader {

struct Profile {
  Experiment experiment;
  StackSum total, truncated;
  std::vector<std::string> names;  // by FunctionId; no two alike that lie in different load objects
  CallTree tree;
  Values exclusive, inclusive;        // ns, by node of the tree
  FunctionValues functions;           // ns, by FunctionId
  std::vector<std::string> notes;     // what was lost
  std::vector<FunctionId> by_weight;  // without <Total>: exclusive, then inclusive value, then name

  Nanoseconds exclusive_of(FunctionId id) const { return {functions.exclusive[index(id)]}; }
  Nanoseconds inclusive_of(FunctionId id) const { return {functions.inclusive[index(id)]}; }
};

Result<Profile> open_profile(const std::string& directory, const Interrupt& interrupt);

Percent share(Nanoseconds part, Nanoseconds whole);

}  // namespace gnomon::reader
