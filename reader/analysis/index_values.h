// Events summed up by the value of an expression: by thread, by second. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reader/analysis/analysis.h"
#include "reader/base/interrupt.h"
#include "reader/base/result.h"
#include "reader/metrics/sums.h"

namespace gnomon::reader {

struct IndexValues {
  static constexpr std::int64_t kUnknown = -1;
  std::vector<std::int64_t> keys;  // values of the expression, in the order in which they were met
  Sums sums;                       // by number in `keys`
};

// Reads the events of the analysis anew. An event that lacks a property which the expression
// depends on counts as kUnknown. Fault: the expression is wrong or has too many values, damage, or
// the user interrupted.
Result<IndexValues> sum_by(Analysis& analysis, const std::string& expression,
                           const Interrupt& interrupt);

}  // namespace gnomon::reader
